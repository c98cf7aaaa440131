import { NodeServices } from "@effect/platform-node"
import { assert, it } from "@effect/vitest"
import { Effect, FileSystem } from "effect"
import { execFile } from "node:child_process"
import { join } from "node:path"
import { promisify } from "node:util"
import * as Checkout from "../src/Checkout.ts"

const author = ["-c", "user.name=bench", "-c", "user.email=bench@example.com"]

it.live("a working tree has a suffix if anything but the stored results was changed", () =>
  Effect.gen(function*() {
    const files = yield* FileSystem.FileSystem
    const directory = yield* files.makeTempDirectoryScoped()
    const git = (...args: ReadonlyArray<string>) =>
      Effect.promise(() => promisify(execFile)("git", [...author, ...args], { cwd: directory }))
    const write = (name: string, text: string) => files.writeFileString(join(directory, name), text)
    yield* git("init", "--quiet")
    yield* files.makeDirectory(join(directory, "docs/reference"), { recursive: true })
    yield* write("docs/reference/benchmarks.json", "{}")
    yield* write("source.ts", "1")
    yield* git("add", ".")
    yield* git("commit", "--quiet", "--message", "first")

    yield* write("docs/reference/benchmarks.json", "{ }")
    const commit = yield* Checkout.describe(directory)
    assert.match(commit, /^[0-9a-f]{12}$/)
    assert.isTrue(Checkout.isCommit(commit))

    yield* write("source.ts", "2")
    const changed = yield* Checkout.describe(directory)
    assert.strictEqual(changed, `${commit}-dirty`)
    assert.isFalse(Checkout.isCommit(changed))
  }).pipe(Effect.provide(NodeServices.layer)))

it.live("a directory without a repository has no commit", () =>
  Effect.gen(function*() {
    const files = yield* FileSystem.FileSystem
    const described = yield* Checkout.describe(yield* files.makeTempDirectoryScoped())
    assert.isFalse(Checkout.isCommit(described))
  }).pipe(Effect.provide(NodeServices.layer)))
