import { assert, it } from "@effect/vitest"
import { readFile } from "node:fs/promises"
import { join } from "node:path"
import * as Document from "../../src/conformance/Document.ts"
import { all } from "../../src/conformance/Requirements.ts"
import { sections } from "./sections.ts"
import { casesOf } from "./Suite.ts"

/** A line for each sentence and each file that holds it. */
const declared = Object.entries(sections).flatMap(([file, section]) =>
  casesOf(section).flatMap(({ hosts, ids }) => ids.map((id) => ({ id, file, hosts })))
)

it("holds every sentence by a test", () => {
  const held = new Set<string>(declared.map(({ id }) => id))
  assert.deepStrictEqual(all.map(({ id }) => id).filter((id) => !held.has(id)), [])
})

it("has sentences that are told apart by their ids", () => {
  assert.strictEqual(new Set(all.map(({ id }) => id)).size, all.length)
})

it("documents the tests that there are, all of them passed", async () => {
  const document = await readFile(join(import.meta.dirname, "../../../../docs/conformance.md"), "utf8")
  const documented = Document.parse(document)
  const expected = Map.groupBy(declared, ({ file, id }) => `${id} ${file}`)
  assert.deepStrictEqual(
    documented.map(({ file, id }) => `${id} ${file}`).toSorted(),
    [...expected.keys()].toSorted()
  )
  for (const { file, id, passed } of documented) {
    const hosts = new Set((expected.get(`${id} ${file}`) ?? []).flatMap(({ hosts }) => hosts))
    assert.deepStrictEqual([id, passed], [id, Object.fromEntries([...hosts].map((host) => [host, true]))])
  }
})
