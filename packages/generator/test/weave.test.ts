import { suite } from "@kinora/generator/testing"
import { Result } from "effect"
import weave from "../example/weave.ts"

suite("weave", {
  generator: Result.getOrThrow(weave.generator({})),
  request: { model: { name: "weave-1", options: { thread: "blue" } } },
  faults: [{
    when: "the model has no thread",
    call: "submit",
    reason: "Permanent",
    request: { model: { name: "weave-1", options: {} } }
  }]
})
