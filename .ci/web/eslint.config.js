// Run from the root of the repository (make lint-web): patterns are relative to it.
import js from "@eslint/js";
import globals from "globals";

export default [
  js.configs.recommended,
  {
    files: ["book/**/*.js"],
    languageOptions: { ecmaVersion: 2022, sourceType: "module", globals: globals.browser },
    linterOptions: { reportUnusedDisableDirectives: "error" },
    rules: { eqeqeq: "error", "no-var": "error", "prefer-const": "error" },
  },
  { files: ["book/_static/*.js", "book/explorables/loader.js"], languageOptions: { sourceType: "script" } },
];
