"""Making pages: from scores, greedily, what a carousel adds; judgments from events; sample data; published layouts."""

from typing import TYPE_CHECKING

from carouseval.lazy_names import lazy_names

if TYPE_CHECKING:
    from carouseval.building.layout_files import CarePages as CarePages
    from carouseval.building.layout_files import read_care_layouts as read_care_layouts
    from carouseval.building.layout_files import read_contentwise_layouts as read_contentwise_layouts
    from carouseval.building.layout_files import read_recgaze_layouts as read_recgaze_layouts
    from carouseval.building.sample import SampleFiles as SampleFiles
    from carouseval.building.sample import write_sample as write_sample
else:
    __all__, __getattr__, __dir__ = lazy_names(
        __name__,
        {
            "layout_files": ("CarePages", "read_care_layouts", "read_contentwise_layouts", "read_recgaze_layouts"),
            "sample": ("SampleFiles", "write_sample"),
        },
    )
