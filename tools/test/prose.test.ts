import { assert, describe, it } from "vitest"
import * as prose from "../lint/prose.ts"

const words = (problems: ReadonlyArray<prose.ProseProblem>) =>
  problems.map(({ message }) => /"(.*?)"/.exec(message)?.[1])

describe("a comment", () => {
  it("is rejected when it begins with a clause instead of a subject or a verb", () => {
    for (
      const comment of [
        "/** What the ledger can be charged with. */",
        "// Who reads it last.",
        "/**\n * Charges an account.\n * Lets others wait.\n */",
        " Says which account.",
        "/** Tells how many. */",
        "/** Whether it may grow. */"
      ]
    ) assert.lengthOf(prose.inComment(comment), 1, comment)
  })

  it("is rejected with an idiom or with the number of a decision", () => {
    assert.deepStrictEqual(
      words(
        prose.inComment("// The worker is told to stop (D12a). The job that goes away is no number, see interface.md.")
      ),
      ["is told", "D12a", "goes away", "is no number", "interface.md"]
    )
  })

  it("is rejected if a thing in it says or tells something", () => {
    assert.deepStrictEqual(
      words(
        prose.inComment("// The column says why. Its header tells the proxy; `says` too, but nobody said or told.")
      ),
      ["says", "tells", "says"]
    )
    assert.deepStrictEqual(prose.inComment("/** Sends what callers say, and `essaysOf` tellers. */"), [])
    assert.deepStrictEqual(prose.inMessage("The customer says: no"), [])
  })

  it("is accepted in plain words", () => {
    for (
      const comment of [
        "/** Charges an account once per reference. Returns what remains. */",
        "// Somewhat slower, but what it saves is worth it.",
        "// A host without a disk, as itself.",
        "/** A matrix of 3D-12 cells; MP3D4. */",
        "/** Whether the account is open. */"
      ]
    ) assert.deepStrictEqual(prose.inComment(comment), [], comment)
  })
})

describe("a message", () => {
  it("is rejected with an idiom, but may begin with a question", () => {
    assert.deepStrictEqual(words(prose.inMessage("What happened: the database is away")), ["is away"])
  })
})

describe("a document", () => {
  it("is checked outside of its code", () => {
    assert.deepStrictEqual(
      prose.inDocument("# Limits\n\n```sh\necho D12 is told\n```\n\nSee `interface.md`, then D12.").map(({ offset }) =>
        offset
      ),
      [63]
    )
  })
})
