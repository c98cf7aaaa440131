/** Tests of failures. */
import { assert } from "@effect/vitest"
import { Duration, Effect } from "effect"
import type { Reason } from "../../GeneratorError.ts"
import { type Contract, failureOf, read } from "./contract.ts"
import type { Fault } from "./options.ts"

/** Registers the test of a failure, and of the call that follows it. */
export const faultTest = (contract: Contract, fault: Fault) => {
  const { arrange = Effect.void, call, reason, when } = fault
  contract.test(
    `fails with ${reason} from ${call} if ${when}`,
    Effect.gen(function*() {
      const instance = yield* contract.start
      const wanted = contract.request(fault.request)
      if (call === "submit") {
        yield* arrange
        checkFault(contract, fault, yield* failureOf(instance.submit(wanted)))
        assert.isTrue(
          reason !== "UnknownOutcome" || instance.resubmit === "unsafe",
          "only an unsafe driver can fail with it"
        )
        if (reason === "Transient") yield* contract.result(instance, yield* contract.submit(instance, wanted))
        return
      }
      const operation = yield* contract.submit(instance, wanted)
      if (call === "collect") assert.strictEqual((yield* contract.ended(instance, operation))._tag, "Succeeded")
      yield* arrange
      const failing = call === "poll" ? contract.ended(instance, operation) : read(instance, operation)
      checkFault(contract, fault, yield* failureOf(failing))
      if (reason === "Transient") yield* contract.result(instance, operation)
      if (reason !== "Lost") return
      assert.strictEqual(instance.resubmit, "safe", "work that cannot be submitted again is not Lost")
      yield* contract.result(instance, yield* contract.submit(instance, wanted))
    })
  )
}

const checkFault = ({ checkSecrets }: Contract, fault: Fault, reason: Reason) => {
  assert.strictEqual(reason._tag, fault.reason)
  checkSecrets(JSON.stringify(reason))
  if (reason._tag === "Permanent" && fault.code !== undefined) assert.strictEqual(reason.code, fault.code)
  if (reason._tag === "Transient" && fault.retryAfter !== undefined) {
    assert.deepStrictEqual(reason.retryAfter, Duration.fromInputUnsafe(fault.retryAfter))
  }
}
