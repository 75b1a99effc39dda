"""Spark for tables so small that most of its time goes into compiling: what compiles less is done sooner."""

from pathlib import Path

from tests.depth import gate_or_deep

JAVA = "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC"
INTERPRETED = {"spark.sql.codegen.wholeStage": "false", "spark.sql.codegen.factoryMode": "NO_CODEGEN"}
# in the deep layer queries are compiled, as they are wherever Spark is used
LIGHT: dict[str, str] = {"spark.driver.extraJavaOptions": JAVA, **gate_or_deep(INTERPRETED, {})}


def light_environment(folder: Path, settings: dict[str, str] = LIGHT) -> dict[str, str]:
    """The environment of a process whose Spark has these settings, from a file in this folder."""
    folder.mkdir(exist_ok=True)
    lines = [f"{name} {value}\n" for name, value in settings.items()]
    (folder / "spark-defaults.conf").write_text("".join(lines))
    return {"SPARK_CONF_DIR": str(folder)}
