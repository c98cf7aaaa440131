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
        "/** The plan. Absent: none. */",
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

  it("is rejected if a thing in it knows, cannot tell or does not say something", () => {
    assert.deepStrictEqual(
      words(prose.inComment("// The planner knows it, the proxy cannot tell, and the system does not say.")),
      ["knows", "cannot tell", "does not say"]
    )
    assert.deepStrictEqual(prose.inComment("// Anyone who knows a key can read it. A path that nobody knows."), [])
  })

  it("is rejected with each idiom of a state, an end or a condition", () => {
    for (
      const [comment, idiom] of [
        ["The caller goes on.", "goes on"],
        ["The file is gone.", "is gone"],
        ["Returns when the image is there.", "is there"],
        ["A text that is no JSON.", "is no JSON"],
        ["It removes the account for good.", "for good"],
        ["The lock lets several processes start.", "lets"],
        ["The pause between two looks at the provider.", "two looks"],
        ["A slot that was reserved in vain.", "in vain"],
        ["The operator to whom it belongs.", "to whom"],
        ["Roll back then.", "then"],
        ["Endpoints that never answer.", "never answer"],
        ["Until the endpoint answers with 2xx.", "endpoint answers"]
      ] as const
    ) assert.deepStrictEqual(words(prose.inComment(`// ${comment}`)), [idiom])
    for (
      const comment of [
        "There is no job, and is no longer one.",
        "Windows that go on and off.",
        "Whether there is one. A log is there to read.",
        "A limit that holds until then.",
        "Errors that are answers to a client.",
        "A malformed key is rejected without a look-up."
      ]
    ) assert.deepStrictEqual(prose.inComment(`// ${comment}`), [], comment)
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

  it("is rejected if a thing in it says or tells something", () => {
    assert.deepStrictEqual(words(prose.inDocument("The plan says how many. `code` tells which one.")), [
      "says",
      "tells"
    ])
  })
})
