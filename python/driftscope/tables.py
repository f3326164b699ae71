"""Tables that a notebook shows, a terminal prints and pandas takes. Clients: api, mapping, trace."""
import html
import math

COLOURS = {"fault": "#c0392b", "suspect": "#b7791f", "rounding": "#2f7d4f", "identical": "#2f7d4f",
           "unjudged": "#777777", "missing": "#777777"}  # of verdicts; readable on white and on black
MOST_ROWS = 400  # in a notebook; all are in .rows


class Table:
    """Rows of cells by column, under a title and above a note. Iterable; rows are dictionaries.

    columns: the ones that are shown; `rows` may hold more.
    """

    def __init__(self, title, rows, columns, note="", verdict_column=None):
        self.title, self.rows, self.columns, self.note = title, list(rows), tuple(columns), note
        self.verdict_column = verdict_column

    def __len__(self):
        return len(self.rows)

    def __iter__(self):
        return iter(self.rows)

    def __getitem__(self, key):
        return self.rows[key]

    def __str__(self):
        cells = [[cell_text(row.get(column)) for column in self.columns] for row in self.rows]
        widths = [max(map(len, column)) for column in zip(self.columns, *cells)]
        right = [self._is_number(column) for column in self.columns]

        def line(parts):
            return "  ".join(part.rjust(width) if number else part.ljust(width)
                             for part, width, number in zip(parts, widths, right)).rstrip()

        body = [line(self.columns), "─" * (sum(widths) + 2 * (len(widths) - 1)), *map(line, cells)]
        return "\n".join(filter(None, [self.title, *body, self.note]))

    __repr__ = __str__

    def _is_number(self, column):
        values = [row.get(column) for row in self.rows if row.get(column) is not None]
        return bool(values) and all(isinstance(value, (int, float)) for value in values)

    def _repr_html_(self):
        return self._as_html(self.note)

    def _as_html(self, note):
        right = {column: ' style="text-align:right"' if self._is_number(column) else ' style="text-align:left"'
                 for column in self.columns}
        head = "".join(f"<th{right[column]}>{html.escape(column)}</th>" for column in self.columns)
        body = "".join(f"<tr>{''.join(self._cell(row, column, right[column]) for column in self.columns)}</tr>"
                       for row in self.rows[:MOST_ROWS])
        more = len(self.rows) - MOST_ROWS
        notes = [note] + ([f"{more} more rows: see .rows"] if more > 0 else [])
        return (f"<table><caption style=\"text-align:left\">{html.escape(self.title)}</caption><thead><tr>{head}</tr>"
                f"</thead><tbody>{body}</tbody></table>"
                + "".join(f"<p>{html.escape(note)}</p>" for note in notes if note))

    def _cell(self, row, column, style):
        text = html.escape(cell_text(row.get(column)))
        colour = COLOURS.get(row.get(column)) if column == self.verdict_column else None
        if colour:
            text = f'<b style="color:{colour}">{text}</b>'
        return f"<td{style}>{text}</td>"

    def to_pandas(self):
        """All that the rows hold as a pandas.DataFrame. Raises ImportError where pandas is not installed."""
        try:
            import pandas
        except ImportError:
            raise ImportError("to_pandas needs pandas: pip install pandas; without it, .rows has the same") from None
        return pandas.DataFrame(self.rows)


def cell_text(value):
    if value is None:
        return ""
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, float):
        return "∞" if math.isinf(value) or abs(value) > 1e300 else f"{value:.3g}"
    if isinstance(value, (list, tuple)):
        return "x".join(map(str, value))
    return str(value)
