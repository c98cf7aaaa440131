import { assert, it } from "@effect/vitest"
import { Effect } from "effect"
import * as BlobKey from "../src/BlobKey.ts"

it.effect("accepts lower-case segments with a letter or a digit at both ends", () =>
  Effect.sync(() => {
    const keys = [
      "a",
      "7",
      "a.png",
      "gen_01h455vb4pex5vsknk084sn02q/output.mp4",
      "a/b/c",
      "a--b..c__d",
      "x".repeat(128)
    ]
    for (const key of keys) assert.isTrue(BlobKey.isValid(key), key)
  }))

it.effect("rejects keys that leave the directory or share a file with another key", () =>
  Effect.sync(() => {
    const texts = [
      "",
      ".",
      "..",
      "../a",
      "a/../b",
      "a/..",
      "/a",
      "a/",
      "a//b",
      ".a",
      "a.",
      "-a",
      "A",
      "a b",
      "a~b",
      "a\\b"
    ]
    const strange = ["a\0", "a\n", "a:b", "ä", "a%2fb", "con\u0301", "x".repeat(129)]
    for (const text of [...texts, ...strange]) assert.isFalse(BlobKey.isValid(text), text)
  }))
