/** The input of promise APIs that programs without types pass. */
import { assert, it } from "@effect/vitest"
import { checkInputs } from "../src/promise.ts"

interface Api {
  readonly pay: (
    command: {
      readonly account: string
      readonly credits: number
      readonly at?: Date
      readonly lasts?: number | string
    }
  ) => Promise<string>
  readonly payAll: (commands: ReadonlyArray<{ readonly account: string }>) => Promise<number>
  readonly find: (ids: ReadonlyArray<string>) => Promise<number>
  readonly get: (key: string) => Promise<string>
  readonly close: () => Promise<void>
}

const api = (): Api =>
  checkInputs<Api>({
    pay: ({ account }) => Promise.resolve(account),
    payAll: (commands) => Promise.resolve(commands.length),
    find: (ids) => Promise.resolve(ids.length),
    get: (key) => Promise.resolve(key),
    close: () => Promise.resolve()
  }, {
    pay: { account: "string", credits: "number", at: "Date?", lasts: "duration?" },
    payAll: [{ account: "string" }],
    find: ["string"],
    get: "string"
  })

const messageOf = (call: Promise<unknown>) =>
  call.then(() => assert.fail("was not rejected"), (error: unknown) => {
    assert.instanceOf(error, TypeError)
    return error.message
  })

it("passes input that has the expected types", async () => {
  const { close, find, get, pay, payAll } = api()
  assert.strictEqual(await pay({ account: "ada", credits: 4 }), "ada")
  assert.strictEqual(await pay({ account: "ada", credits: 4, at: new Date(0), lasts: "10 seconds" }), "ada")
  assert.strictEqual(await payAll([{ account: "ada" }, { account: "grace" }]), 2)
  assert.strictEqual(await payAll([]), 0)
  assert.strictEqual(await find(["a"]), 1)
  assert.strictEqual(await get("a"), "a")
  assert.isUndefined(await close())
})

it("rejects other input, and says which field has which type", async () => {
  const checked = api()
  const call = (method: keyof Api, ...input: ReadonlyArray<unknown>): Promise<unknown> =>
    Reflect.apply(checked[method], checked, input)
  const rejected = [
    [call("pay"), "Expected the argument of pay to be an object, got undefined"],
    [call("pay", null), "Expected the argument of pay to be an object, got null"],
    [call("pay", "ada"), "Expected the argument of pay to be an object, got a string"],
    [call("pay", { credits: 4 }), "Expected account of pay to be a string, got undefined"],
    [call("pay", { account: "ada", credits: "4" }), "Expected credits of pay to be a number, got a string"],
    [call("pay", { account: "ada", credits: NaN }), "Expected credits of pay to be a number, got NaN"],
    [call("pay", { account: ["ada"], credits: 4 }), "Expected account of pay to be a string, got an array"],
    [call("pay", { account: "ada", credits: 4, at: "2026-01-01" }), "Expected at of pay to be a Date, got a string"],
    [call("pay", { account: new Date(0), credits: 4 }), "Expected account of pay to be a string, got a Date"],
    [
      call("pay", { account: "ada", credits: 4, lasts: "soon" }),
      "Expected lasts of pay to be a duration such as \"10 seconds\" or a number of milliseconds, got a string"
    ],
    [call("payAll", {}), "Expected the argument of payAll to be an array, got an object"],
    [call("payAll", [{ account: "ada" }, {}]), "Expected account of item 1 of payAll to be a string, got undefined"],
    [call("find", [1]), "Expected item 0 of find to be a string, got a number"],
    [call("get", 1), "Expected the argument of get to be a string, got a number"]
  ] as const
  for (const [call, message] of rejected) assert.strictEqual(await messageOf(call), message)
})
