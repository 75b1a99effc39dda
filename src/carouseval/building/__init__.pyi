from carouseval.building.layout_files import CarePages as CarePages
from carouseval.building.layout_files import read_care_layouts as read_care_layouts
from carouseval.building.layout_files import read_contentwise_layouts as read_contentwise_layouts
from carouseval.building.layout_files import read_recgaze_layouts as read_recgaze_layouts
from carouseval.building.sample import SampleFiles as SampleFiles
from carouseval.building.sample import write_sample as write_sample
