/** A timer that the members of a set share. It runs only while the set has members. */
import { type Duration, Effect, Latch } from "effect"

/** A member of a shared timer. */
export interface Member {
  /** Runs at each interval. The first one may have begun before the member was added. */
  readonly tick: () => void
}

/** Makes a timer without members. It stops when the scope closes. */
export const make = Effect.fnUntraced(function*(interval: Duration.Duration) {
  const members = new Set<Member>()
  const hasMembers = Latch.makeUnsafe(false)
  const tick = Effect.gen(function*() {
    yield* hasMembers.await
    yield* Effect.sleep(interval)
    for (const member of members) member.tick()
    if (members.size === 0) hasMembers.closeUnsafe()
  })
  yield* Effect.forkScoped(Effect.forever(tick))

  return {
    add: (member: Member) => {
      members.add(member)
      hasMembers.openUnsafe()
    },
    delete: (member: Member) => members.delete(member),
    /** The number of members. */
    size: () => members.size
  }
})
