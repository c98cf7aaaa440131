/** The duration of comparisons, measured by the characters that they read. */
import { afterEach, assert, it, vi } from "@effect/vitest"
import { matches } from "../src/internal/hmac.ts"

afterEach(() => {
  vi.restoreAllMocks()
})

const code = "0123456789abcdef".repeat(4)
const wrong = "f".repeat(64)
const firstWrong = `f${code.slice(1)}`
const lastWrong = `${code.slice(0, -1)}0`

/** Returns the number of characters read and the result. */
const look = (codes: ReadonlyArray<string>, candidates: ReadonlyArray<string>) => {
  const charCodeAt = vi.spyOn(String.prototype, "charCodeAt")
  const answer = matches(codes, candidates)
  const looks = charCodeAt.mock.calls.length
  charCodeAt.mockRestore()
  return { answer, looks }
}

it("compares all characters of a candidate regardless of where it differs", () => {
  assert.deepStrictEqual(look([code], [code]), { answer: true, looks: 128 })
  for (const candidate of [wrong, firstWrong, lastWrong]) {
    assert.deepStrictEqual(look([code], [candidate]), { answer: false, looks: 128 })
  }
})

it("compares every candidate with every secret regardless of which matches", () => {
  const candidates = [firstWrong, code, wrong]
  for (const codes of [[code, lastWrong], [lastWrong, code], [lastWrong, lastWrong]]) {
    assert.deepStrictEqual(look(codes, candidates), { answer: codes.includes(code), looks: 6 * 128 })
  }
})

it("does not match a text with a prefix of it", () => {
  assert.isFalse(matches([code], [code.slice(0, -1), "", `${code}0`]))
  assert.isFalse(matches([code], []))
})

it("finds a difference in any single character", () => {
  for (let i = 0; i < 64; i++) {
    const candidate = `${code.slice(0, i)}g${code.slice(i + 1)}`
    assert.isFalse(matches([code], [candidate]), candidate)
  }
})

it("compares all characters of a signature of Standard Webhooks", () => {
  const code = `v1,${"A".repeat(43)}=`
  for (const candidate of [code, `v1,B${"A".repeat(42)}=`, `v1,${"A".repeat(42)}B=`]) {
    assert.deepStrictEqual(look([code, code], [candidate, candidate]), { answer: candidate === code, looks: 4 * 94 })
  }
})
