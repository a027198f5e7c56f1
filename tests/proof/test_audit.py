"""The audit says what it found, and never that all is well where it could not look."""

import json
from pathlib import Path

import pytest

from proof.audit.__main__ import conclude, main
from proof.audit.advisories import Audit, Finding, read_report
from proof.audit.pins import NotPinned, read_pins

PINS = read_pins("lantern==1.4.2\n# by hand\n\nOar_Lock==0.9\n")


def test_what_a_service_skipped_was_not_looked_at() -> None:
    report = {
        "dependencies": [
            {"name": "lantern", "skip_reason": "Dependency not found on PyPI and could not be audited"},
            {"name": "oar_lock", "version": "0.9", "vulns": [{"id": "PYSEC-2030-3", "fix_versions": ["1.0"]}]},
        ]
    }
    audit = read_report("pypi", json.dumps(report))
    assert audit.looked_at == {"oar-lock"}
    assert [found.advisory for found in audit.findings] == ["PYSEC-2030-3"]
    for broken in ("", "Traceback", "[]", "{}"):
        assert read_report("osv", broken) == Audit("osv", frozenset(), ())


def test_nothing_looked_at_is_never_called_audited(capsys: pytest.CaptureFixture[str]) -> None:
    nothing = [Audit("pypi", frozenset(), ()), Audit("osv", frozenset(), ())]
    assert conclude(PINS, nothing, strict=False) == 0
    said = capsys.readouterr().out
    assert "NOT AUDITED: 2 of 2" in said
    assert "\nAUDITED" not in said
    assert conclude(PINS, nothing, strict=True) == 3
    some = [Audit("pypi", frozenset({"lantern"}), ())]
    assert conclude(PINS, some, strict=True) == 3
    assert "NOT AUDITED: 1 of 2 packages; no advisories could be had for oar-lock" in capsys.readouterr().out


def test_a_finding_fails_even_where_the_rest_was_not_looked_at(capsys: pytest.CaptureFixture[str]) -> None:
    finding = Finding("lantern 1.4.2", "PYSEC-2030-1", "1.4.3, 2.0.1")
    assert conclude(PINS, [Audit("pypi", frozenset({"lantern"}), (finding,))], strict=False) == 1
    assert "lantern 1.4.2: PYSEC-2030-1, fixed in 1.4.3, 2.0.1" in capsys.readouterr().out


def test_a_lock_that_pins_no_version_is_an_error_of_its_own(tmp_path: Path) -> None:
    lock = tmp_path / "lock.txt"
    lock.write_text("lantern>=1.4.2\n", encoding="utf-8")
    assert main(["--lock", str(lock)]) == 2


@pytest.mark.parametrize(
    "line", ["lantern", "lantern>=1", "lantern==1.*", "lantern @ https://example.org/x.whl", "-r more"]
)
def test_a_line_that_pins_nothing_is_refused_with_its_number(line: str) -> None:
    with pytest.raises(NotPinned, match="line 2"):
        read_pins(f"oar_lock==0.9\n{line}\n")


def test_a_requirement_over_lines_keeps_digests_and_marker() -> None:
    text = 'lantern==1.4.2 ; sys_platform == "linux" \\\n    --hash=sha256:ab \\\n    --hash=sha256:cd\noar_lock==0.9\n'
    first, second = read_pins(text)
    assert (str(first), first.digests) == ("lantern 1.4.2", ("ab", "cd"))
    assert (str(second), second.digests) == ("oar-lock 0.9", ())
    with pytest.raises(NotPinned, match="line 4"):
        read_pins(f"{text.rpartition('oar_lock')[0]}rudder\n")


def test_the_lock_pins_every_line() -> None:
    lock = Path(__file__).parents[2] / "requirements.lock"
    assert len(read_pins(lock.read_text(encoding="utf-8"))) > 100
