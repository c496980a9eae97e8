"""The checker of prose finds long sentences and listed words in every kind of text, and nowhere else."""

import pytest
from prose import main, of_code, of_markdown

LONG = "This sentence has many words " + "and more words " * 6 + "so that it breaks the rule"


def kinds(pieces):
    return [(line, kind) for prose in pieces for line, kind, _ in prose.offences()]


def test_a_long_sentence_is_found_on_its_line():
    assert kinds(of_markdown(f"# Title\n\nA short one.\n{LONG}.\n")) == [(4, "long")]


def test_a_listed_word_is_found_in_a_paragraph_a_list_and_a_table():
    assert kinds(of_markdown("It mends this.\n\n- for you alone\n- fine\n\n| good | perhaps |\n|---|---|\n")) == [
        (1, "word"), (3, "word"), (6, "word")]


def test_code_in_a_document_is_no_prose():
    assert kinds(of_markdown(f"Use `alone`.\n\n```python\nalone = '{LONG}'\n```\n\n    alone alike\n")) == []


def test_commands_in_a_help_text_are_no_prose():
    assert kinds(of_code('HELP = """\nexamples:\n  structperc fit alone.csv perhaps\n      --target alike\n"""\n')) == []


def test_two_sentences_are_counted_apart():
    half = " ".join(LONG.split()[:12])
    assert kinds(of_markdown(f"{half}. {half}: {half}\n")) == []
    assert kinds(of_markdown(f"{half}, e.g. {half}\n")) == [(1, "long")]


@pytest.mark.parametrize("code", [
    '"""Mends a part alone."""\n',
    "x = 1  # it mends a part\n# alone\n",
    "raise ValueError(f'the {part} mends '\n                 'these things alone')\n",
    "cdef int f(double* x) noexcept nogil:\n    '''Mends it.\n\n    Alone.\n    '''\n",
])
def test_docstrings_comments_and_messages_are_read(code):
    assert [kind for _, kind in kinds(of_code(code))] == ["word", "word"]


def test_names_keys_and_doctests_are_no_prose():
    assert kinds(of_code('tells = {"alone": "alone", "told": 1}\n"""Sum.\n\n>>> answers(1)\nalone\n"""\n')) == []


def test_formulas_and_lists_of_names_are_no_prose():
    formula = "    f(i, j) = " + " + ".join(f"a_{i} x_{i}" for i in range(30))
    assert kinds(of_code(f'"""Sums.\n\nThey are\n\n{formula}\n\nof numbers.\n"""\n# Sums:\n#\n# {formula}\n')) == []
    assert kinds(of_code('NAMES = """\n' + "alone case char default " * 9 + '\n""".split()\n')) == []


def test_cells_of_an_indented_table_are_sentences():
    half = " ".join(LONG.split()[:12])
    assert kinds(of_code(f'"""Names.\n\n    {half}    {half}\n    alone            {half}\n"""\n')) == []
    assert kinds(of_code(f'"""Names.\n\n    it mends     {LONG}\n"""\n')) == [(3, "word"), (3, "long")]


def test_programs_in_strings_are_no_prose():
    assert kinds(of_code(f'PROGRAM = """\nimport os  # {LONG}\n"""\n')) == []


def test_offences_are_printed_with_their_place(tmp_path, capsys):
    page = tmp_path / "page.md"
    page.write_text("It fixes this.\n")
    assert not main([str(page)])
    assert capsys.readouterr().out == ""

    page.write_text("It fixes this.\n\nIt mends this.\n")
    assert main([str(page)])
    assert capsys.readouterr().out.startswith(f"{page}:3: 'mends' (fix): ")
