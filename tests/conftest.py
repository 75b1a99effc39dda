"""Shared set-up: which programs of the system a suite needs, and what is said when they are missing."""

import shutil
import signal
from collections import Counter
from typing import Any

import pytest
from hypothesis import HealthCheck, core, settings

from tests.depth import COMMIT, DEEP, FRESH

# in the deep layer examples follow from the commit, as if by --hypothesis-seed
settings.register_profile("seeded", derandomize=not DEEP, deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("seeded")

REASON = " is not installed"
TOGETHER = ("tests/engines/spark/", "tests/test_typing.py")  # a Spark session, a run of mypy


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--with-deep", action="store_true", help="run what is marked deep, with the seeds of the gate")
    parser.addoption("--require-all", action="store_true", help="fail if a suite is left out for want of a program")


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config: pytest.Config, log: Any) -> Any:
    """One worker for all tests of a suite that shares something dear, and first of all; others wherever there is room.

    Marks of xdist would say the same, but pytest 9.2 no longer reads the ids that they change.
    """
    from xdist.scheduler import LoadScopeScheduling

    class Scheduling(LoadScopeScheduling):  # type: ignore[misc, unused-ignore]
        def _split_scope(self, nodeid: str) -> str:
            return next((suite for suite in TOGETHER if nodeid.startswith(suite)), nodeid)

    return Scheduling(config, log)


def pytest_configure(config: pytest.Config) -> None:
    if signal.getsignal(signal.SIGINT) == signal.SIG_IGN:  # as in the background of a shell; processes would inherit it
        signal.signal(signal.SIGINT, signal.default_int_handler)
    if DEEP and config.getoption("--hypothesis-seed", None) is None:
        core.global_force_seed = FRESH  # type: ignore[assignment, unused-ignore]


def pytest_report_header() -> list[str]:
    return [f"deep layer, commit {COMMIT}: fresh seeds from {FRESH}"] * DEEP


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    if not DEEP and not config.getoption("--with-deep"):
        deep = [item for item in items if item.get_closest_marker("deep")]
        config.hook.pytest_deselected(items=deep)
        items[:] = [item for item in items if item not in deep]
    for item in items:
        for mark in item.iter_markers("needs"):
            if shutil.which(mark.args[0]) is None:
                item.add_marker(pytest.mark.skip(reason=f"{mark.args[0]}{REASON}"))


def left_out(config: pytest.Config) -> Counter[str]:
    """How many tests were skipped for want of which program. Read from reports, which reach us from workers too."""
    terminal = config.pluginmanager.get_plugin("terminalreporter")
    reports = terminal.stats.get("skipped", []) if terminal else []
    reasons = [report.longrepr[2].removeprefix("Skipped: ") for report in reports if isinstance(report.longrepr, tuple)]
    return Counter(reason.removesuffix(REASON) for reason in reasons if reason.endswith(REASON))


def pytest_sessionfinish(session: pytest.Session) -> None:
    if session.config.getoption("--require-all") and left_out(session.config) and not session.exitstatus:
        session.exitstatus = pytest.ExitCode.TESTS_FAILED


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter, config: pytest.Config) -> None:
    verdict = "FAILED, --require-all" if config.getoption("--require-all") else "left out"
    for program, count in sorted(left_out(config).items()):
        terminalreporter.write_line(f"{verdict}: {count} tests need {program}, which is not installed", yellow=True)
    if not left_out(config):
        terminalreporter.write_line("no suite left out for want of a program")
