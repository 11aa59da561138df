"""Markdown as models write it, well formed and not: what every way of reading a reply is tried on."""

TABLE = "| Name | Cost |\n|:---|---:|\n" + "".join(f"| item {row} | {row * row}.5 |\n" for row in range(40))

REPLIES = {
    "empty": "",
    "one word": "Paris",
    "blank lines only": "\n\n \n",
    "paragraphs": "First paragraph.\n\nSecond one, with **bold**, *italic*, ***both***, ~~struck~~ and `code`.\n\nThird.",
    "line breaks": "Roses are red,\nviolets are blue,  \nhard break\\\nand a backslash.",
    "headings": "# One\ntext\n## Two\n\n### Three ###\n#### Four\n##### Five\n###### Six\n####### not one\nSetext\n===\nSetext two\n---\nend",
    "not quite blocks": "para\n#hash\n2. not a list\n2.5 is nice\n+1 for that\n-x\n=\nend",
    "tight list": "Intro:\n- a\n- b\n- c\n\nAfter.",
    "loose list": "- a\n\n- b\n\n  second paragraph\n\n- c\n",
    "nested lists": "1. one\n   - inner\n     1. deep\n     2. deeper\n   - inner two\n2. two\n   * star\n10. three\n\n   para\n",
    "changing markers": "- a\n- b\n* c\n* d\n+ e\n1. x\n2. y\n1) z\n",
    "list or rule": "- a\n-\n- - -\n* b\n***\n- c\n---\nd\n",
    "ordered from seven": "7. seven\n8. eight\n2.5 is lazy\n9. nine\n99. hundred?\n100. more\n",
    "long list": "".join(f"{number}. Step {number} does **something** with `value_{number}`.\n" for number in range(1, 40)),
    "tasks": "- [x] done\n- [ ] open with `code`\n- [X] also\n- [] not\n  - [ ] nested\n",
    "quotes": "> one\n> two\nlazy\n\n> another\n>\n> > nested\n> > more\n>\n> - list\n> - in it\n\nafter",
    "quote in list": "- item\n\n  > quoted\n  > ```\n  > code\n  > ```\n- next\n",
    "table": "Before\n\n| a | b | c |\n|---|:-:|--:|\n| 1 | **2** | `3` |\n| x<br>y | only two |\n\nAfter",
    "long table": TABLE + "\nDone.",
    "table cut mid-row": "| a | b |\n|---|---|\n| 1 | 2 |\n| 3 | unfin",
    "table after text": "text\na | b\n--|--\n1 | 2\n\n---\n| lone | row |\n",
    "two tables": "| a |\n|---|\n| 1 |\n\n| b |\n|---|\n| 2 |\n# h\n",
    "fence": "Code:\n\n```python\ndef f(x):\n    '''Doc\n    string.'''\n    return x  # note\n\n\nprint(f(1))\n```\n\nDone.",
    "unclosed fence": "```js\nconst a = `x${1}`;\n/* open\n   comment",
    "odd fences": "~~~~ruby x=1\n```\nputs 'a'\n~~~\n~~~~\n````\n```\nin\n```\n````\n```unknown-lang\nx\n```",
    "fence in list": "1. Do this:\n\n   ```bash\n   uv run flint --help\n   ```\n\n2. Then:\n   ```\n   plain\n     indented\n   ```\nafter",
    "indented code": "para\n\n    four spaces\n\n        eight\n\nend\n",
    "indented fence": "   ```c\n   int main() {\n     /* a\n        b */ return 0;\n    }\n   ```\n",
    "fence then text at once": "```\na\n```\nb\n```\nc\n```\n",
    "links": 'See [docs](https://example.org/a_(b) "title"), <https://auto.example>, https://bare.example/x_y, www.example.com.',
    "references": "Read [this][1] and [that].\n\n- item with [1]\n\n[1]: https://one.example\n[that]: <https://two.example> 'T'\n",
    "images": "![a cat](https://example.org/cat.png) and ![](x.gif) and [![badge](b.svg)](https://ci.example)",
    "html": '<div onclick="x()">hi</div>\n<script>alert(1)</script>\n\nInline <b>bold</b> &amp; &lt;tag&gt; &nbsp; &#0; <!-- c -->',
    "entities and escapes": "\\*not\\* \\# &copy; &notanentity; 5 \\\\ 6 \\`x\\`",
    "control characters": "a\x00b\x07c\x1b[31mred\x7f \u202eevil\u202c \ufffc \ufdd0 \u2028 x\u2029y `\u2066z`",
    "carriage returns": "a\r\nb\r\n\r\n- c\r\n- d\r\r```\r\ncode\r\n```\r",
    "right to left": "# مرحبا\n\nשלום **עולם** and English.\n\n- פריט\n- عنصر `code`\n",
    "emoji": "👩‍👩‍👧‍👦 family **👍🏽 bold** 🇫🇷\n\n- 🎉 one\n- two 𝒳\n\n```python\ns = '🎉👩‍🔬'  # 𝒳 note\n```\n",
    "chinese": "中文段落，**粗体**和`代码`。\n\n1. 第一\n2. 第二\n",
    "a long line": "word **bold** and `code` " * 500,
    "one token without spaces": "x" * 10_000,
    "unbalanced": "**bold *it** `code [link](http://a **b\n\n*x\n\n__y",
    "deep": "> - > - > - x\n>   - y\n\n- - - a\n",
    "a whole page": (
        "```html\n<!DOCTYPE html>\n<html>\n<!-- a\n     b -->\n<style>\nbody { color: red; }\n</style>\n<script>\n"
        "const x = 1; // n\nfunction f() { return `a${x}`; }\n</script>\n</html>\n```\n"
    ),
    "many languages": "".join(
        f"```{name}\n{code}\n```\n"
        for name, code in {
            "json": '{"a": [1, true, null], "b": "c"}',
            "yaml": "a: 1\nb:\n  - c  # d\n",
            "diff": "-old\n+new\n@@ -1 +1 @@",
            "rust": "/* a\n * b\n */\nfn main() { let x = 1; }",
            "sql": "SELECT * FROM t -- c\nWHERE a = 'x';",
            "go": "package main\n\nfunc f() string { return `raw\nstring` }",
            "rb": "def f\n  <<~X\n    here\n  X\nend",
            "text": "plain",
            "c++": "#include <x>\nclass A {};",
        }.items()
    ),
    "thinking out loud": "<think>\nhm\n</think>\n\nAnswer: $x^2$ costs $5 and \\(y\\).\n",
    "everything": (
        "## Plan\n\nText with [link](https://a.b).\n\n1. One\n   - sub `x`\n\n   ```py\n   y = 2\n   ```\n2. Two\n\n> quote\n\n"
        "| k | v |\n|---|---|\n| a | 1 |\n\n---\n\n```sh\nls -la | grep x\n```\n\nEnd[^1].\n\n[^1]: note\n"
    ),
}
