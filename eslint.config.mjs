// What eslint checks: mistakes, not looks (those are prettier's). `tools/lint` runs it.
import js from "@eslint/js";
import globals from "globals";

const rules = {
  ...js.configs.recommended.rules,
  eqeqeq: ["error", "always", { null: "ignore" }], // == null: null or undefined
  "array-callback-return": "error",
  "consistent-return": "off",
  "no-constructor-return": "error",
  "no-empty": ["error", { allowEmptyCatch: true }],
  "no-shadow": "error",
  "no-template-curly-in-string": "error",
  "no-throw-literal": "error",
  "no-unmodified-loop-condition": "error",
  "no-unreachable-loop": "error",
  "no-unused-vars": ["error", { args: "after-used", caughtErrors: "all", ignoreRestSiblings: true }],
  "no-use-before-define": ["error", { functions: false, classes: false, variables: false }],
  "no-var": "error",
  "object-shorthand": "error",
  "prefer-const": ["error", { destructuring: "all" }],
  "prefer-promise-reject-errors": "error",
  "require-atomic-updates": "off",
};
const page = { ...globals.browser, ...globals.worker };

export default [
  { ignores: ["build/", "build-*/", "node_modules/", "assets/"] },
  { linterOptions: { reportUnusedDisableDirectives: "error" } },
  { files: ["**/*.mjs", "**/*.js"], languageOptions: { ecmaVersion: 2024, globals: page }, rules },
  { files: ["**/*.mjs"], languageOptions: { sourceType: "module" } },
  { files: ["**/*.js"], languageOptions: { sourceType: "script" } },
  // A line that the build puts in front (cmake/list_site.mjs).
  { files: ["web/page/service_worker.js"], languageOptions: { globals: { site: "readonly" } } },
  // Under Node; the tests also hold functions that run on a page.
  {
    files: ["cmake/**", "web/npm/**", "web/*/node_*.mjs", "node/**"],
    languageOptions: { globals: globals.nodeBuiltin },
  },
  // A library for Emscripten, whose names it uses.
  {
    files: ["node/system/system.js"],
    languageOptions: {
      globals: Object.fromEntries(
        [
          "addToLibrary",
          "dsNode",
          "lengthBytesUTF8",
          "require",
          "stringToNewUTF8",
          "stringToUTF8",
          "UTF8ToString",
          ...["ERRNO_CODES", "HEAP16", "HEAP32", "HEAPF64", "HEAPU32", "HEAPU8", "Module", "_malloc"],
        ].map((name) => [name, "readonly"]),
      ),
    },
  },
  { files: ["tests/**"], languageOptions: { globals: { ...page, ...globals.nodeBuiltin } } },
];
