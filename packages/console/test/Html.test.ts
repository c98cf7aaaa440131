/** Text from outside is rendered as text. */
import { assert, it } from "@effect/vitest"
import { globSync } from "node:fs"
import { readFile } from "node:fs/promises"
import { fileURLToPath } from "node:url"

const root = fileURLToPath(new URL("../src", import.meta.url))

it("passes no text to a parser of HTML or to an evaluator", async () => {
  const files = globSync("**/*.{ts,tsx}", { cwd: root })
  assert.isAtLeast(files.length, 80)
  const parsers =
    /dangerouslySetInnerHTML|\.innerHTML|\.outerHTML|insertAdjacentHTML|document\.write|createContextualFragment|DOMParser|srcDoc|\beval\(|new Function/
  for (const file of files) assert.notMatch(await readFile(`${root}/${file}`, "utf8"), parsers, file)
})
