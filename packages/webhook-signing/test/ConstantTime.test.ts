/** What a stranger could learn from how long a comparison takes. */
import { afterEach, assert, it, vi } from "@effect/vitest"
import { matches } from "../src/internal/hmac.ts"

afterEach(() => {
  vi.restoreAllMocks()
})

const code = "0123456789abcdef".repeat(4)
const wrong = "f".repeat(64)
const firstWrong = `f${code.slice(1)}`
const lastWrong = `${code.slice(0, -1)}0`

/** How many characters are looked at, and what comes of it. */
const look = (codes: ReadonlyArray<string>, candidates: ReadonlyArray<string>) => {
  const charCodeAt = vi.spyOn(String.prototype, "charCodeAt")
  const answer = matches(codes, candidates)
  const looks = charCodeAt.mock.calls.length
  charCodeAt.mockRestore()
  return { answer, looks }
}

it("looks at all of a candidate, wherever it is wrong (section Signature)", () => {
  assert.deepStrictEqual(look([code], [code]), { answer: true, looks: 128 })
  for (const candidate of [wrong, firstWrong, lastWrong]) {
    assert.deepStrictEqual(look([code], [candidate]), { answer: false, looks: 128 })
  }
})

it("looks at every candidate with every secret, whichever matches", () => {
  const candidates = [firstWrong, code, wrong]
  for (const codes of [[code, lastWrong], [lastWrong, code], [lastWrong, lastWrong]]) {
    assert.deepStrictEqual(look(codes, candidates), { answer: codes.includes(code), looks: 6 * 128 })
  }
})

it("takes no text for another that it begins with", () => {
  assert.isFalse(matches([code], [code.slice(0, -1), "", `${code}0`]))
  assert.isFalse(matches([code], []))
})

it("finds a difference in any single character", () => {
  for (let i = 0; i < 64; i++) {
    const candidate = `${code.slice(0, i)}g${code.slice(i + 1)}`
    assert.isFalse(matches([code], [candidate]), candidate)
  }
})
