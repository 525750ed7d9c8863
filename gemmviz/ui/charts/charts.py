"""The charts under the name by which the window asks for them."""

from gemmviz.ui.charts.measure_page import MeasurePage

Charts = MeasurePage
