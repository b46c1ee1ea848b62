import pytest

from tests.loopback.markup import as_html


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("plain", "<p>plain</p>"),
        ("a **b** *c* __d__ ~~e~~", "<p>a <strong>b</strong> <em>c</em> <u>d</u> <s>e</s></p>"),
        ("snake_case_name", "<p>snake_case_name</p>"),
        ("`**not bold**`", "<p><code>**not bold**</code></p>"),
        ("## Head\n-# small", "<h2>Head</h2><small>small</small>"),
        ("- a\n- b\nc", "<ul><li>a</li><li>b</li></ul><p>c</p>"),
        ("1. a", "<ol><li>a</li></ol>"),
        ("> said", "<blockquote>said</blockquote>"),
        ("see\n```py\nx < 1\n```", "<p>see</p><pre><code>x &lt; 1</code></pre>"),
        ("[here](https://a.example/b) **x**", "<p><a>here</a> <strong>x</strong></p>"),
        ("https://a.example/x_y_z.", "<p><a>https://a.example/x_y_z</a>.</p>"),
        ("<b>&\ue0000\ue001", "<p>&lt;b&gt;&amp;0</p>"),
    ],
)
def test_what_becomes_of_a_text(text: str, expected: str) -> None:
    assert as_html(text) == expected
