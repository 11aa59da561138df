"""A `QTextDocument` as plain data, so that two can be compared down to every format."""

from PySide6.QtGui import QTextCharFormat, QTextCursor

from app.chat.text.math_object import SIZE, SOURCE


def dump(document, width=700):
    """Return every block: its text, formats, colours, table cell and place when it is laid out `width` pixels wide."""
    document.setTextWidth(width)
    size = document.size()
    layout = document.documentLayout()
    found = [("size", size.width(), size.height())]
    block = document.begin()
    while block.isValid():
        place = layout.blockBoundingRect(block)
        found.append(
            (
                block.text(),
                _block_format(block.blockFormat()),
                _text_format(block.charFormat()),
                _fragments(block),
                _colours(block),
                _cell(block),
                (place.x(), place.y(), place.width()),
            )
        )
        block = block.next()
    return found


def _colours(block):
    # Each is held while it is read: PySide frees a list's items with the list.
    layout = block.layout()
    spans = layout.formats()
    return [(span.start, span.length, _text_format(QTextCharFormat(span.format))) for span in spans]


def _fragments(block):
    found = []
    iterator = block.begin()
    while not iterator.atEnd():
        fragment = iterator.fragment()
        form = _text_format(fragment.charFormat())
        if found and found[-1][1] == form:
            found[-1] = (found[-1][0] + fragment.text(), form)
        else:
            found.append((fragment.text(), form))
        iterator += 1
    return found


def _cell(block):
    cursor = QTextCursor(block)
    table = cursor.currentTable()
    if table is None:
        return None
    cell = table.cellAt(cursor)
    form, edges = table.format(), cell.format().toTableCellFormat()
    return (
        (table.rows(), table.columns(), cell.row(), cell.column()),
        (form.topMargin(), form.bottomMargin(), form.leftMargin(), form.cellPadding(), form.cellSpacing(), form.border()),
        [(length.type().name, length.rawValue()) for length in form.columnWidthConstraints()],
        (edges.leftPadding(), edges.rightPadding(), edges.topPadding(), edges.bottomPadding()),
        _text_format(cell.format()),
    )


# Read one by one: `QTextFormat.properties` crashes PySide on a font's features.
def _text_format(form):
    font = form.font()
    return (
        font.toString(),
        [(tag.toString().data(), font.featureValue(tag)) for tag in font.featureTags()],
        _brush(form.foreground()),
        _brush(form.background()),
        (form.isAnchor(), form.anchorHref(), form.toolTip(), form.objectType(), form.verticalAlignment().name),
        (form.property(SOURCE), form.property(SIZE)),
    )


def _block_format(form):
    margins = form.topMargin(), form.bottomMargin(), form.leftMargin(), form.rightMargin(), form.textIndent(), form.indent()
    return (
        margins,
        form.lineHeight(),
        form.lineHeightType(),
        form.alignment(),
        form.nonBreakableLines(),
        _brush(form.background()),
    )


def _brush(brush):
    return brush.color().name(), brush.style().name
