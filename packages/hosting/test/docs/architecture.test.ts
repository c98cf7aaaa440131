/** docs/explanation/architecture.md: the files that requests and jobs pass. */
import { assert, it } from "@effect/vitest"
import { Effect } from "effect"
import { existsSync } from "node:fs"
import { read } from "./Page.ts"

const page = "explanation/architecture.md"
const filesMax = 15

for (const heading of ["A create request through the code", "A claimed job through the code"]) {
  it.effect(`"${heading}" names at most ${filesMax} files, each once, as a link to the source`, () =>
    Effect.gen(function*() {
      const [, section = ""] = (yield* read(page)).split(`\n## ${heading}\n`)
      const [walk = ""] = section.split("\n## ")
      const steps = Array.from(walk.matchAll(/^(\d+)\. \[`([^/`]+)\/([^`]+)`\]\(([^)]+)\)/gm))

      assert.isAtMost(steps.length, filesMax)
      assert.deepStrictEqual(steps.map(([, number]) => Number(number)), steps.map((_, index) => index + 1))
      for (const [, , name, path, target] of steps) {
        assert.strictEqual(target, `../../packages/${name}/src/${path}`)
        assert.isTrue(existsSync(new URL(`../../../${name}/src/${path}`, import.meta.url)), target)
      }
      const linked = steps.map(([, , name, path]) => `${name}/${path}`)
      assert.strictEqual(new Set(linked).size, linked.length)
      // A file that the text names besides them would be one more to open.
      assert.deepStrictEqual(Array.from(walk.matchAll(/`([^`]+\.ts)`/g), ([, file]) => file), linked)
    }))
}
