/** Compares the conformance cases with the contract in `docs/reference`. */
import { assert, describe, it } from "@effect/vitest"
import { readFile } from "node:fs/promises"
import { join } from "node:path"
import { consoleApi } from "../../src/conformance/consoleProofs.ts"
import * as Contract from "../../src/conformance/Contract.ts"
import { exempt } from "../../src/conformance/exempt.ts"
import { operatorApi } from "../../src/conformance/proofs.ts"
import * as Report from "../../src/conformance/Report.ts"
import { all, pages, type RequirementId } from "../../src/conformance/Requirements.ts"
import { sections } from "./sections.ts"
import { casesOf } from "./Suite.ts"

const repository = join(import.meta.dirname, "../../../..")

const named = new Set<RequirementId>(
  Object.values(sections).flatMap((section) => casesOf(section).flatMap(({ ids }) => ids))
)

/** Pages whose every statement needs a case. The other pages have statements for operators, and tables made from code. */
const complete = ["http-api", "webhooks"] as const

/** Pages whose statements are proved by tests of packages. */
const proven = { "operator-api": operatorApi, "console-api": consoleApi }

describe("the contract", () => {
  it("has a case for every requirement", () => {
    assert.deepStrictEqual(all.filter(({ id }) => !named.has(id)).map(({ id }) => id), [])
  })

  it("has requirements with distinct ids", () => {
    assert.strictEqual(new Set(all.map(({ id }) => id)).size, all.length)
  })

  for (const page of Object.keys(pages)) {
    it(`contains every quoted statement in the quoted section (${page}.md)`, async () => {
      const statements = await Contract.read(page)
      const missing = all.filter((requirement) =>
        requirement.page === page &&
        !statements.some(({ section, text }) => section === requirement.section && isQuoted(text, requirement.quote))
      )
      assert.deepStrictEqual(missing, [])
    })
  }

  for (const page of complete) {
    it(`has a case for every statement (${page}.md)`, async () => {
      const statements = await Contract.read(page)
      const unproven = statements.filter(({ section, text }) =>
        !all.some(({ page: of, quote, section: at }) => of === page && at === section && isQuoted(text, quote)) &&
        !beginningsOf(page, section).some((beginning) => text.startsWith(beginning))
      )
      assert.deepStrictEqual(unproven, [])
    })

    it(`has no exemption without a statement (${page}.md)`, async () => {
      const statements = await Contract.read(page)
      const unused = Object.keys(exempt[page] ?? {}).flatMap((section) =>
        beginningsOf(page, section).filter((beginning) =>
          !statements.some((statement) => statement.section === section && statement.text.startsWith(beginning))
        )
      )
      assert.deepStrictEqual(unused, [])
    })
  }

  for (const [page, statementProofs] of Object.entries(proven)) {
    it(`names the tests that prove each statement (${page}.md)`, async () => {
      const statements = await Contract.read(page)
      const used = new Set<string>()
      const unproven = statements.filter(({ section, text }) => {
        const [beginning] = Object.keys(statementProofs[section] ?? {})
          .filter((beginning) => text.startsWith(beginning))
          .toSorted((one, other) => other.length - one.length)
        used.add(`${section}: ${beginning}`)
        return beginning === undefined
      })
      assert.deepStrictEqual(unproven, [])
      const unused = Object.entries(statementProofs).flatMap(([section, proofs]) =>
        Object.keys(proofs).map((beginning) => `${section}: ${beginning}`).filter((proof) => !used.has(proof))
      )
      assert.deepStrictEqual(unused, [])
    })

    it(`is proved by tests that exist (${page}.md)`, async () => {
      const proofs = Object.values(statementProofs).flatMap((section) => Object.values(section).flat())
      const missing = await Promise.all(proofs.map(async ({ file, name }) => {
        const source = await readFile(join(repository, file), "utf8").catch(() => "")
        return /["`(]$/.test(source.split(name)[0] ?? "") && source.includes(name) ? [] : [`${file}: ${name}`]
      }))
      assert.deepStrictEqual(missing.flat(), [])
    })
  }

  it("is read by paragraphs, items and rows", () => {
    const markdown = [
      "# A page",
      "One\nparagraph.",
      "```\ncode\n```",
      "## Its section",
      "- one\n- two,\n  longer",
      "| a | b |\n| --- | --- |\n| 1   | 2 |"
    ].join("\n\n")
    assert.deepStrictEqual(Contract.parse(markdown), [
      { section: "a-page", text: "One paragraph." },
      { section: "its-section", text: "- one" },
      { section: "its-section", text: "- two, longer" },
      { section: "its-section", text: "| 1 | 2 |" }
    ])
  })
})

describe("the conformance report", () => {
  it("shows on each host whether all cases of a statement in a file passed", () => {
    const recorder = new Report.Recorder()
    recorder.record("ledger", ["credit-lots.once"], true)
    recorder.record("ledger", ["credit-lots.once", "credit-lots.order"], false)
    recorder.record("images", ["credit-lots.order"], true)
    const report = Report.render(new Map([["PGlite", recorder.result(new Date("2026-11-22T00:00:00Z"))]]))
    const row = (file: string, mark: string) =>
      ` | [${file}](../packages/acceptance/test/conformance/${file}.ts) | – | ${mark} | – |`
    assert.include(report, `| \`credit-lots.once\` | A job is refunded at most once.${row("ledger", "✘")}`)
    assert.include(report, row("images", "✔"))
    assert.include(report, "| PGlite | 2026-11-22T00:00:00.000Z |")
    assert.include(report, "| Postgres | never |")
  })
})

const isQuoted = (text: string, quote: string): boolean => text.includes(Contract.normalise(quote))

const beginningsOf = (page: string, section: string): ReadonlyArray<string> =>
  Object.keys(exempt[page]?.[section] ?? {})
