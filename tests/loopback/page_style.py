"""How the page of a recorded chat looks: a style sheet of the project's own, dark and light."""

STYLE = """
:root { font: 16px/1.375 "Liberation Sans", "Helvetica Neue", Arial, sans-serif; }
* { box-sizing: border-box; margin: 0; }
.dark { --ground: #1f2024; --text: #dcdee1; --loud: #f4f5f6; --faint: #989ba3; --line: #34363c;
  --code: #2a2b30; --link: #6fa8f5; --grey: #393b42; --grey-text: #e8e9eb; --name: #3a3f6b;
  --name-text: #c6ccff; --alone: #25273a; --field: #17181b; }
.light { --ground: #ffffff; --text: #2d2f34; --loud: #0b0c0e; --faint: #61646b; --line: #d9dbe0;
  --code: #f1f2f4; --link: #1458c4; --grey: #e4e6ea; --grey-text: #23252a; --name: #e4e6ff;
  --name-text: #3a45b5; --alone: #eef0ff; --field: #f5f6f8; }
body { width: max-content; background: transparent; }
main { display: flex; background: var(--ground); color: var(--text); width: max-content;
  border: 1px solid var(--line); border-radius: 12px; overflow: hidden; }
section { width: 720px; padding: 16px 0 18px; }
section:has(.alone) { padding: 0; background: var(--alone); }
section + section { border-left: 1px solid var(--line); }
section:not(:only-child) { width: 524px; }
h6 { font-size: 13px; font-weight: 700; color: var(--faint); padding: 0 20px 8px; }
article { position: relative; padding: 6px 20px 6px 72px; }
article.alone { padding-top: 14px; padding-bottom: 16px; }
aside { display: flex; gap: 6px; align-items: center; font-size: 14px; color: var(--faint);
  margin: 0 0 4px -38px; }
aside > span:last-child { white-space: nowrap; overflow: hidden; text-overflow: ellipsis; }
aside strong { color: var(--text); }
aside::before { content: ""; flex: none; width: 30px; height: 9px; margin: 9px 0 0;
  border: solid var(--line); border-width: 2px 0 0 2px; border-top-left-radius: 6px; }
.face { border-radius: 50%; color: #fff; font-weight: 700; display: inline-flex; flex: none;
  align-items: center; justify-content: center; }
.face.small { width: 18px; height: 18px; font-size: 10px; }
.face.large { position: absolute; left: 16px; margin-top: 2px; width: 40px; height: 40px;
  font-size: 19px; }
header { display: flex; align-items: baseline; gap: 8px; }
header strong { color: var(--loud); }
mark { background: #5461d6; color: #fff; font-size: 10.5px; font-weight: 700; border-radius: 4px;
  padding: 1px 5px; position: relative; top: -2px; }
time, footer, i { font-size: 12px; color: var(--faint); font-style: normal; }
footer { margin-top: 8px; }
small { display: block; font-size: 13px; color: var(--faint); margin-top: 2px; }
small:last-of-type { margin-bottom: 2px; }
h1, h2, h3 { color: var(--loud); margin: 6px 0 4px; line-height: 1.25; }
h1 { font-size: 24px; } h2 { font-size: 20px; } h3 { font-size: 17px; }
p, li { overflow-wrap: anywhere; } div > strong { color: var(--loud); }
ul, ol { padding-left: 22px; }
a { color: var(--link); }
b { background: var(--name); color: var(--name-text); border-radius: 4px; padding: 0 3px;
  font-weight: 600; }
code { font: 14px/1.3 "Liberation Mono", Menlo, Consolas, monospace; background: var(--code);
  border: 1px solid var(--line); border-radius: 4px; padding: 0 3px; }
pre { background: var(--code); border: 1px solid var(--line); border-radius: 6px; margin: 6px 0;
  padding: 9px 11px; white-space: pre-wrap; }
pre code { background: none; border: 0; padding: 0; font-size: 13px; }
small code { font-size: 12.5px; }
blockquote { border-left: 4px solid var(--line); padding-left: 12px; margin: 4px 0; }
img { display: block; width: 100%; border-radius: 8px; margin-top: 8px; }
nav { display: flex; flex-wrap: wrap; gap: 8px; margin-top: 8px; }
button { font: 600 14px/1 "Liberation Sans", "Helvetica Neue", Arial, sans-serif; border: 0;
  border-radius: 8px; padding: 9px 15px; background: var(--grey); color: var(--grey-text); }
button.primary { background: #4f5cd6; color: #fff; } button.success { background: #207a45;
  color: #fff; } button.danger { background: #c23b42; color: #fff; }
button:disabled { opacity: .5; }
output { flex: 1; display: flex; justify-content: space-between; border: 1px solid var(--line);
  background: var(--field); border-radius: 8px; padding: 9px 12px; font-size: 15px; }
output span { color: var(--faint); }
fieldset { border: 1px solid var(--line); border-radius: 8px; padding: 12px 14px; margin-top: 6px; }
hr { border: 0; border-top: 1px solid var(--line); margin: 10px 0; }
"""
