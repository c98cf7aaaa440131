import { assert, describe, it } from "vitest"
import * as readmeBlocks from "../readmeBlocks.ts"

const block = (code: string) => `\`\`\`ts\n${code}\n\`\`\`\n\n`

describe("read", () => {
  it("returns each block with an import as a file", () => {
    const blocks = readmeBlocks.read(`${block(`import "effect"`)}Text.\n\n${block(`import { a } from "./a.ts"`)}`)
    assert.deepStrictEqual(blocks.map(({ file }) => file), ["1.ts", "2.ts"])
    assert.deepStrictEqual(blocks.map(({ specifiers }) => specifiers), [["effect"], ["./a.ts"]])
  })

  it("joins a block without an import with the block before it", () => {
    const [first, second] = readmeBlocks.read(
      block(`import "effect"\nconst a = 1\n// 1`) + block(`console.log(a) // 2`) + block(`import "pg"`)
    )
    assert.strictEqual(first?.code, `import "effect"\nconst a = 1\n// 1\n\nconsole.log(a) // 2\n`)
    assert.deepStrictEqual(first?.shown, ["1", "2"])
    assert.strictEqual(second?.file, "3.ts")
  })

  it("names a block after the path at the end of the paragraph before it", () => {
    const [first, second] = readmeBlocks.read(
      `${block(`import "effect"`)}Write it. \`drivers/weave.ts\`:\n\n${block("export default 1")}`
    )
    assert.strictEqual(first?.file, "1.ts")
    assert.strictEqual(second?.file, "weave.ts")
  })

  it("recognizes tests by what they import", () => {
    const blocks = readmeBlocks.read(
      ["vitest", "@effect/vitest", "@kinora/ledger/testing", "effect/testing", "./testing"].map((specifier) =>
        block(`import "${specifier}"`)
      ).join("")
    )
    assert.deepStrictEqual(blocks.map(({ file }) => file), ["1.test.ts", "2.test.ts", "3.test.ts", "4.ts", "5.ts"])
    assert.deepStrictEqual(blocks.map(({ isTest }) => isTest), [true, true, true, false, false])
  })

  it("returns the comments that show output, and no others", () => {
    const [first] = readmeBlocks.read(block(`import "effect"
// A comment.
const a = f(1) // not output
yield* Console.log(a) // 1
// Another.
await run()
// 2
// 3`))
    assert.deepStrictEqual(first?.shown, ["1", "2", "3"])
  })

  it("returns the imported packages that no installation before the block names", () => {
    const [first, second] = readmeBlocks.read(
      `With \`npm install effect\`:\n\n${block(`import "effect/sql"\nimport "pg/pool"\nimport "./a.ts"`)}`
        + `With \`npm install pg\`:\n\n${block(`import "effect"\nimport "pg"`)}`
    )
    assert.deepStrictEqual(first?.notInstalled, ["pg"])
    assert.deepStrictEqual(second?.notInstalled, [])
  })

  it("returns the environment variables that the code reads, without those of comments", () => {
    const [first] = readmeBlocks.read(block(`import "effect"
/**
 * Read it from process.env.SECRET.
 */
// process.env.TOKEN
const { KEY = null, URL = "http://127.0.0.1" } = process.env
const a = process.env["REDIS_URL"] ?? process.env.OTHER
const b = Config.Redacted("DATABASE_URL")`))
    assert.deepStrictEqual(first?.variables, ["REDIS_URL", "OTHER", "DATABASE_URL", "KEY", "URL"])
  })
})

describe("differences", () => {
  it("accepts the lines in any order, several in one comment, and any text for an ellipsis", () => {
    assert.deepStrictEqual(
      readmeBlocks.differences(
        ["true 1, true 0", "[ 1, 2 ]", "key_…"],
        `true 0
[ 1, 2 ]
key_x y
true 1
`
      ),
      []
    )
  })

  it("names lines that are missing and lines that the README does not show", () => {
    assert.deepStrictEqual(readmeBlocks.differences(["1", "2"], "1\n3\n"), [
      "not printed: 2",
      "not in the README: 3"
    ])
    assert.deepStrictEqual(readmeBlocks.differences(["1", "1"], "1\n"), ["not printed: 1"])
  })
})

it("waits for the next window of a block if the present one ends soon", () => {
  const at = (time: string, specifier: string) => {
    const [first] = readmeBlocks.read(block(`import "${specifier}"`))
    return readmeBlocks.untilWindowHasTime(first!, Date.parse(`2026-03-01T${time}Z`))
  }
  assert.deepStrictEqual(
    [
      at("12:00:03", "@kinora/rate-limit"),
      at("12:00:05", "@kinora/rate-limit/promise"),
      at("12:00:05", "@kinora/ledger")
    ],
    [0, 5_000, 0]
  )
  assert.strictEqual(at("23:59:59", "@kinora/ledger"), 1_000)
})

it("returns the packages of every installation once, without options and comments", () => {
  assert.deepStrictEqual(
    readmeBlocks.installed("```sh\nnpm install pg effect # comment\n```\n\nWith `npm install --save-dev redis pg`."),
    ["pg", "effect", "redis"]
  )
})

it("returns the package of a specifier, and none for files and modules of Node", () => {
  assert.deepStrictEqual(
    ["@kinora/ledger/promise", "effect/sql", "./a.ts", "node:fs"].map(readmeBlocks.packageOf),
    ["@kinora/ledger", "effect", undefined, undefined]
  )
})
