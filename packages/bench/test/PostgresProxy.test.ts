/** The types of messages, in parts of any size. */
import { assert, it } from "@effect/vitest"
import { readTypes } from "../src/PostgresProxy.ts"

const message = (type: string, body: string): Buffer => {
  const length = Buffer.alloc(4)
  length.writeUInt32BE(4 + body.length)
  return Buffer.concat([Buffer.from(type), length, Buffer.from(body)])
}

const typesIn = (bytes: Buffer, partLength: number): string => {
  const types: Array<string> = []
  const read = readTypes((type) => types.push(String.fromCharCode(type)))
  for (let at = 0; at < bytes.length; at += partLength) read(bytes.subarray(at, at + partLength))
  return types.join("")
}

// The start of a connection has no type.
const conversation = [
  message("", "user"),
  message("Q", "BEGIN"),
  message("B", "QEQE"),
  message("E", ""),
  message("S", "")
]

it("reads the types of messages that arrive in parts", () => {
  const bytes = Buffer.concat([message("", "the user and the database"), ...conversation.slice(1)])
  for (const partLength of [1, 2, 3, 7, bytes.length]) {
    assert.strictEqual(typesIn(bytes, partLength), "QBES", `${partLength}`)
  }
})

it("skips a request for encryption", () => {
  const bytes = Buffer.concat([...conversation.slice(0, 1), message("", "the user"), ...conversation.slice(1)])
  for (const partLength of [1, 8, bytes.length]) assert.strictEqual(typesIn(bytes, partLength), "QBES", `${partLength}`)
})
