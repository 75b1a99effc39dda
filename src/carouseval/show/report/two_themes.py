"""A chart as one SVG with two sets of colours: light ones in its attributes, dark ones in rules of CSS."""

import re

from carouseval.show.charts.chart import Chart

_TAG = re.compile(r"<[^<>]+>")
_ATTRIBUTE = re.compile(r'([\w-]+)="([^"]*)"')
_PREFIX = re.compile(r'<title id="(\w+)-title">')


class DarkColors:
    """Collects the dark colours of charts as rules, each once, and names their classes in the charts."""

    def __init__(self) -> None:
        self._classes: dict[tuple[str, str], str] = {}

    @property
    def rules(self) -> str:
        """The rules, to be put under ``@media (prefers-color-scheme: dark)``."""
        return "".join(f".{name}{{{property}:{color}}}" for (property, color), name in self._classes.items())

    def svg(self, chart: Chart) -> str:
        """The chart in light colours, with a class wherever a colour differs in dark ones."""
        light, dark = (chart.with_theme(theme).svg for theme in ("light", "dark"))
        tags = iter(_TAG.findall(dark.replace(_prefix(dark), _prefix(light))))  # ids differ as the drawings do
        return _TAG.sub(lambda tag: self._merged(tag[0], next(tags)), light)

    def _merged(self, light: str, dark: str) -> str:
        if light == dark:
            return light
        pairs = zip(_ATTRIBUTE.findall(light), _ATTRIBUTE.findall(dark), strict=True)
        colors = [after for before, after in pairs if before != after]
        names = " ".join(self._classes.setdefault(color, f"d{len(self._classes)}") for color in colors)
        if ' class="' in light:
            return light.replace(' class="', f' class="{names} ', 1)
        return re.sub(r"^<([\w-]+)", rf'<\1 class="{names}"', light)


def _prefix(svg: str) -> str:
    (prefix,) = _PREFIX.findall(svg)
    return str(prefix)
