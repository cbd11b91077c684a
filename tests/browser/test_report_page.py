from __future__ import annotations

from typing import TYPE_CHECKING, Literal

import pytest

from teiten.report import build_report, write_html

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    from playwright.sync_api import Browser, Page

    from teiten.archive import Run
    from teiten.report import Language

    MakeRun = Callable[..., Run]

SIZE_LIMIT_BYTES = 3_000_000
A_PAGE_A_SECTION = 40


@pytest.fixture(scope="module", params=["en", "ja"])
def report_file(
    make_run: MakeRun, request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Path:
    folder = tmp_path_factory.mktemp("page")
    language: Language = request.param
    run = make_run(folder, "version-update", ("factor.clients=1,16,64,256",), cores=8)
    write_html(build_report(run, language), folder / "report.html")
    return folder / "report.html"


@pytest.fixture
def page(browser: Browser) -> Iterator[Page]:
    page = browser.new_page(viewport={"width": 1280, "height": 900})
    yield page
    page.close()


def test_the_page_asks_the_network_for_nothing(page: Page, report_file: Path) -> None:
    asked: list[str] = []
    faults: list[str] = []
    page.on("request", lambda request: asked.append(request.url))
    page.on("console", lambda message: faults.append(message.text))
    page.on("pageerror", lambda error: faults.append(str(error)))
    page.goto(report_file.as_uri(), wait_until="networkidle")
    assert [url for url in asked if not url.startswith("data:")] == [report_file.as_uri()]
    assert faults == []


@pytest.mark.parametrize("width", [360, 820, 1280])
def test_nothing_sticks_out_at_any_width(page: Page, report_file: Path, width: int) -> None:
    page.set_viewport_size({"width": width, "height": 900})
    page.goto(report_file.as_uri())
    assert page.evaluate("document.documentElement.scrollWidth") <= width


def test_charts_are_drawn_whole_and_named(page: Page, report_file: Path) -> None:
    page.goto(report_file.as_uri())
    outside = page.evaluate(
        """() => [...document.querySelectorAll('figure svg')].flatMap(svg => {
             const box = svg.getBoundingClientRect();
             return [...svg.querySelectorAll('text')].filter(text => {
               const b = text.getBoundingClientRect();
               return b.width > 0 && (b.left < box.left - 2 || b.right > box.right + 2
                 || b.top < box.top - 2 || b.bottom > box.bottom + 2);
             }).map(text => svg.parentElement.parentElement.id + ': ' + text.textContent);
           })"""
    )
    assert outside == []
    images = page.get_by_role("img").all()
    assert len(images) == page.locator("figure").count() > 10
    for image in images:
        named_by = (image.get_attribute("aria-labelledby") or "").split()
        assert all(page.locator(f'[id="{name}"]').text_content() for name in named_by)


def test_every_figure_has_marks(page: Page, report_file: Path) -> None:
    page.goto(report_file.as_uri())
    empty = page.evaluate(
        """() => [...document.querySelectorAll('figure')].filter(figure =>
             figure.querySelectorAll('svg path[d]:not([d=""])').length < 8).map(f => f.id)"""
    )
    assert empty == []


def test_contents_lead_to_sections_by_keyboard(page: Page, report_file: Path) -> None:
    page.goto(report_file.as_uri())
    page.keyboard.press("Tab")
    page.keyboard.press("Enter")
    assert page.url.endswith("#verdict")
    targets = page.eval_on_selector_all("nav a", "links => links.map(a => a.hash.slice(1))")
    assert targets == page.eval_on_selector_all("section", "all => all.map(s => s.id)")


def test_figures_can_be_unfolded_as_tables(page: Page, report_file: Path) -> None:
    page.goto(report_file.as_uri())
    folded = page.locator("#throughput details").first
    assert not folded.locator("td").first.is_visible()
    folded.locator("summary").click()
    assert folded.locator("td").first.is_visible()


@pytest.mark.parametrize("media", ["screen", "print"])
def test_significant_ratios_stand_in_a_frame_that_cuts_nothing(
    page: Page, report_file: Path, media: Literal["screen", "print"]
) -> None:
    page.goto(report_file.as_uri())
    page.emulate_media(media=media)
    frames = page.locator("#ratios td mark").all()
    assert frames
    for frame in frames:
        style = frame.evaluate(
            "f => { const s = getComputedStyle(f); return [s.borderTopStyle, s.borderTopColor, "
            "s.backgroundColor, s.color === getComputedStyle(f.parentElement).color]; }"
        )
        assert style == ["solid", "rgb(34, 34, 34)", "rgba(0, 0, 0, 0)", True]
    overlapping = page.evaluate(
        """() => [...document.querySelectorAll('#ratios td mark')].filter(frame => {
             const cell = frame.parentElement, left = cell.previousElementSibling;
             const text = document.createRange();
             text.selectNodeContents(left);
             const inner = frame.getBoundingClientRect();
             return inner.left < text.getBoundingClientRect().right
               || inner.right > cell.getBoundingClientRect().right
               || inner.height > cell.getBoundingClientRect().height;
           }).map(frame => frame.textContent)"""
    )
    assert overlapping == []


def test_print_cuts_no_chart(page: Page, report_file: Path, tmp_path: Path) -> None:
    page.goto(report_file.as_uri())
    page.emulate_media(media="print")
    heights = page.eval_on_selector_all(
        "figure", "all => all.map(f => f.getBoundingClientRect().height)"
    )
    a4_text_height_px = (297 - 28) / 25.4 * 96
    assert max(heights) < a4_text_height_px
    assert page.eval_on_selector_all(
        "figure", "all => all.every(f => getComputedStyle(f).breakInside === 'avoid')"
    )
    page.pdf(path=tmp_path / "report.pdf")
    assert (tmp_path / "report.pdf").read_bytes().count(b"/Type /Page\n") < A_PAGE_A_SECTION


def test_a_published_size_run_stays_small(make_run: MakeRun, tmp_path: Path) -> None:
    run = make_run(tmp_path, "version-update", seconds=300, cores=32)
    assert len(run.records) == 54
    write_html(build_report(run), tmp_path / "report.html")
    assert (tmp_path / "report.html").stat().st_size < SIZE_LIMIT_BYTES
