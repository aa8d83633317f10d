//! Pages and tables: escaping, structure, and that a page loads nothing.

use rudolph_charts::{Bar, BarChart, Chart, Emphasis, Page, Row, Section, Table};

fn nasty() -> String {
    "<script>alert(\"1\")</script> & 'x' | `y`".to_owned()
}

fn figure() -> BarChart {
    BarChart { title: nasty(), bars: vec![Bar::new(nasty(), 1.0)], ..BarChart::default() }
}

fn page() -> Page {
    let section = Section {
        id: "Fig 1".into(),
        heading: nasty(),
        paragraphs: vec![nasty()],
        figures: vec![figure().figure(), figure().svg()],
        table: Some(Table { head: vec![nasty()], rows: vec![Row::new([nasty()])] }),
        notes: vec![nasty()],
        warning: Some(nasty()),
    };
    let twin = Section { id: "fig-1".into(), ..section.clone() };
    let unnamed = Section { id: String::new(), heading: "…".into(), ..Section::default() };
    Page {
        title: nasty(),
        lead: nasty(),
        sections: vec![section, twin, unnamed],
        footer: vec![nasty()],
    }
}

#[test]
fn a_page_escapes_all_text() {
    let html = page().html();
    assert!(!html.contains("<script"));
    assert!(
        html.contains("&lt;script&gt;alert(&quot;1&quot;)&lt;/script&gt; &amp; &#39;x&#39; | ")
    );
    assert!(html.contains("<code>y</code>"));
}

#[test]
fn a_page_loads_nothing() {
    let html = page().html();
    let without_names = html.replace("xmlns=\"http://www.w3.org/2000/svg\"", "");
    for word in ["http", "src=", "@import", "url(", "<link", "<script", "//"] {
        assert!(!without_names.contains(word), "{word}");
    }
}

#[test]
fn links_of_the_contents_lead_to_sections() {
    let html = page().html();
    let links: Vec<&str> =
        html.split("<li><a href=\"#").skip(1).filter_map(|rest| rest.split('"').next()).collect();
    assert_eq!(links, ["fig-1", "fig-1-section-2", "section-3"]);
    for link in links {
        assert_eq!(html.matches(&format!("<section id=\"{link}\">")).count(), 1, "{link}");
    }
}

#[test]
fn both_themes_are_there_once() {
    let html = page().html();
    // The page's own colours and those of all its charts.
    assert_eq!(html.matches("prefers-color-scheme").count(), 2);
    assert_eq!(figure().svg().matches("prefers-color-scheme").count(), 1);
}

#[test]
fn every_element_is_closed() {
    let html = page().html();
    for name in [
        "section", "figure", "div", "svg", "g", "text", "table", "tr", "td", "th", "ul", "ol",
        "li", "p", "nav",
    ] {
        let opened =
            html.matches(&format!("<{name}>")).count() + html.matches(&format!("<{name} ")).count();
        assert_eq!(opened, html.matches(&format!("</{name}>")).count(), "{name}");
    }
}

#[test]
fn an_empty_page_is_a_page() {
    let html = Page::default().html();
    assert!(html.starts_with("<!DOCTYPE html>") && html.ends_with("</html>\n"));
}

fn table(rows: Vec<Row>) -> Table {
    Table { head: vec!["name".into(), "value".into()], rows }
}

#[test]
fn markdown_cells_cannot_end_the_cell() {
    let markdown = table(vec![Row::new(["a|b\\|c\nd", "<b>*x*"])]).markdown();
    assert_eq!(markdown.lines().count(), 3);
    assert!(markdown.contains(r"a\|b\\\|c d"));
    assert!(markdown.contains(r"&lt;b>\*x\*"));
}

#[test]
fn a_terminal_gets_no_control_characters() {
    let text = table(vec![Row::new(["\u{1b}[31mred", "1"])]).text();
    assert!(!text.contains('\u{1b}'));
}

#[test]
fn columns_of_numbers_are_aligned_to_the_right() {
    let is_right = |cells: &[&str]| {
        let rows = cells.iter().map(|cell| Row::new(["x", cell])).collect();
        table(rows).html().contains("<th class=\"number\">value</th>")
    };
    assert!(is_right(&["14,592", "8.5", "-3%", "+22%", "90.1 ± 0.2", "–", "", "<1", "12 ms"]));
    assert!(is_right(&["8.51 (8.4 to 8.6)"]));
    assert!(!is_right(&["14,592", "fast"]));
    assert!(!is_right(&["10.0.0.1:80"]));
    assert!(!is_right(&["2026-11-20"]));
    assert!(!is_right(&["", "–"]));
}

#[test]
fn rows_may_be_short_or_long() {
    let table = table(vec![Row::new(["only"]), Row::new(["a", "1", "more"])]);
    assert!(table.markdown().lines().all(|line| line.matches('|').count() == 4));
    assert_eq!(table.html().matches("<td").count(), 6);
    assert_eq!(Table::default().markdown().lines().count(), 2);
    assert_eq!(Table::default().text().lines().count(), 2);
}

#[test]
fn rows_are_marked() {
    let hero = Row { emphasis: Emphasis::Hero, ..Row::new(["spread", "1"]) };
    let reference = Row { is_reference: true, ..Row::new(["published", "2"]) };
    let table = table(vec![hero, reference]);
    assert!(table.markdown().contains("| **spread**"));
    assert!(table.markdown().contains("| *published* |"));
    assert!(table.text().contains("> spread"));
    assert!(table.text().contains("~ published"));
    assert!(table.html().contains("<tr class=\"hero\">"));
    assert!(table.html().contains("<tr class=\"reference\">"));
}
