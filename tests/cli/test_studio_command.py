"""``carouseval studio``: starts, names its address, and ends with a line."""

import json
import signal
import socket
import subprocess
import sys
import urllib.request
from pathlib import Path

import pytest

from carouseval.cli import main
from carouseval.cli.studio import message_of
from carouseval.errors import CarousevalError, DataError, ParameterError
from carouseval.messages import setting
from carouseval.show.studio import server
from tests.show.studio.test_uploads import JUDGMENTS, LAYOUTS, OTHER


def run(monkeypatch: pytest.MonkeyPatch, *arguments: str) -> int:
    """The exit status of the command in this process."""
    monkeypatch.setattr(sys, "argv", ["carouseval", "studio", "--no-browser", *arguments])
    monkeypatch.setattr(signal, "signal", lambda *_: None)  # pytest keeps its own
    with pytest.raises(SystemExit) as end:
        main()
    assert isinstance(end.value.code, int)
    return end.value.code


@pytest.mark.parametrize("missing", ["starlette", "uvicorn"])
def test_missing_packages_give_the_line_to_install_them(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], missing: str
) -> None:
    monkeypatch.setitem(sys.modules, missing, None)
    assert run(monkeypatch) == 2
    error = capsys.readouterr().err
    message = f'the studio needs {missing}, which is not installed. Run: pip install "carouseval[show]"'
    assert error == f"carouseval: {message}\n"


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["layouts.csv"], "studio needs judgments beside the layouts: carouseval studio LAYOUTS JUDGMENTS."),
        (["--items", "items.csv"], "--items and --other need LAYOUTS and JUDGMENTS."),
        (["--other", "layouts.csv"], "--items and --other need LAYOUTS and JUDGMENTS."),
        (["no-layouts.csv", "no-judgments.csv"], "judgments: no-judgments.csv: No such file or directory."),
        (["--metric", "N2DCG_kat"], "there is no metric 'N2DCG_kat'. Did you mean 'N2DCG_cat'?"),
    ],
)
def test_what_is_wrong_at_start_is_one_line(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], arguments: list[str], message: str
) -> None:
    assert run(monkeypatch, *arguments) == 2
    error = capsys.readouterr().err
    assert error.startswith("carouseval: ")
    assert message in error
    assert error.count("\n") == 1


@pytest.mark.parametrize(
    ("error", "message"),
    [
        (
            DataError(
                f"layouts: missing column row; it has a. Rename it, or use {setting('columns', {'row': 'shelf'})}."
            ),
            "layouts: missing column row; it has a. Rename it, or use --columns row=shelf. Options are given when the "
            "studio is started.",
        ),
        (
            ParameterError(f"{setting('by')}: there is no column 'device' in layouts or judgments."),
            "--by: there is no column 'device' in layouts or judgments. Options are given when the studio is started.",
        ),
        (DataError("layouts: a.csv is empty."), "layouts: a.csv is empty."),
    ],
)
def test_the_page_names_options_rather_than_arguments(error: CarousevalError, message: str) -> None:
    """Whoever uploads tables has no Python at hand."""
    assert message_of(error) == message


def test_a_port_that_is_taken() -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = taken.getsockname()[1]
        with pytest.raises(
            ParameterError, match=rf"port {port} cannot be used \(.*\); choose another, or leave it out"
        ):
            server.bind(port)


def test_another_port_where_the_usual_one_is_taken() -> None:
    with server.bind(None) as first, server.bind(None) as second:
        ports = [listener.getsockname() for listener in (first, second)]
        assert {host for host, _ in ports} == {"127.0.0.1"}
        assert ports[0] != ports[1]
        assert ports[1][1] != server.PORT


@pytest.mark.skipif(sys.platform == "win32", reason="signals of POSIX")
@pytest.mark.parametrize(("number", "word"), [(signal.SIGINT, "interrupted"), (signal.SIGTERM, "terminated")])
def test_it_answers_until_a_signal_ends_it(tmp_path: Path, number: signal.Signals, word: str) -> None:
    for name, text in (("new", LAYOUTS), ("prod", OTHER), ("judgments", JUDGMENTS)):
        (tmp_path / f"{name}.csv").write_text(text)
    command = [sys.executable, "-m", "carouseval", "studio", "new.csv", "judgments.csv", "--other", "prod.csv"]
    pipe = subprocess.PIPE
    with subprocess.Popen([*command, "--no-browser"], cwd=tmp_path, stdout=pipe, stderr=pipe, text=True) as process:
        assert process.stdout is not None
        line = process.stdout.readline()
        assert line.startswith("studio: http://127.0.0.1:")
        address = line.split()[1]
        with urllib.request.urlopen(f"{address}api/state", timeout=10) as answer:
            state = json.load(answer)
        assert [system["name"] for system in state["systems"]] == ["new", "prod"]
        assert state["source"] == "new.csv, prod.csv"
        process.send_signal(number)
        _, errors = process.communicate(timeout=20)
    assert process.returncode == 128 + number
    assert errors == f"carouseval: {word}\n"
