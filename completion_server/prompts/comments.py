"""How a line of comment is written, by LSP language id. A table; knows nothing of prompts."""

_STYLES: dict[tuple[str, str], str] = {
    ("#", ""): (
        "python jupyter ruby perl perl6 raku r julia shellscript sh bash zsh fish powershell ps1 dockerfile "
        "dockercompose makefile make cmake yaml toml coffeescript elixir nim crystal tcl awk gdscript graphql "
        "ignore gitignore properties conf config ssh_config terraform terraform-vars hcl nix just starlark bzl "
        "bazel meson puppet git-commit gitcommit git-rebase gitrebase snakemake po mojo nushell nu"
    ),
    ("//", ""): (
        "javascript typescript javascriptreact typescriptreact javascript.jsx typescript.tsx go gomod gowork rust "
        "c cpp cuda cuda-cpp objc objcpp objective-c objective-cpp csharp cs java kotlin swift scala groovy "
        "gradle dart php jsonc json5 json less scss sass stylus zig solidity proto proto3 fsharp glsl hlsl wgsl "
        "verilog systemverilog shaderlab odin vala d haxe jenkinsfile bicep prisma typst jsonnet thrift pug jade "
        "arduino ino"
    ),
    ("--", ""): "lua luau sql mysql pgsql plsql sqlite haskell lhaskell purescript elm ada vhdl applescript dhall teal",
    ("%", ""): "latex tex bibtex matlab octave erlang prolog mercury",
    (";", ""): "ini dosini clojure lisp commonlisp scheme racket fennel asm nasm armasm autohotkey elisp query",
    ("'", ""): "vb vbnet vba vbscript basic",
    ("!", ""): "fortran fortran-modern fortran_free-form",
    ('"', ""): "vim viml",
    ("REM", ""): "bat dosbatch",
    ("<!--", " -->"): "html xhtml xml xsl svg vue svelte astro markdown mdx rmd quarto handlebars htmldjango razor",
    ("/*", " */"): "css",
    ("(*", " *)"): "ocaml ocaml.interface ocamlinterface reason sml coq isabelle wolfram mma",
    ("{-", " -}"): "agda idris",
    ("{#", " #}"): "jinja jinja2 twig django-html",
    ("<%#", " %>"): "erb eruby ejs",
}

_STYLE = {language: style for style, languages in _STYLES.items() for language in languages.split()}


def comment(text: str, language: str) -> str:
    """`text`, one line, as a comment of `language` (an LSP language id); of an unknown one with `#`."""
    opening, closing = _STYLE.get(language.lower(), ("#", ""))
    return f"{opening} {text}{closing}"
