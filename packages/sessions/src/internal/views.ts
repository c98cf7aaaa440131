/** Views of accounts by operators. */
import { Duration, Effect, Option } from "effect"
import type * as Session from "../Session.ts"
import { SessionNotFound, SessionsError } from "../SessionsError.ts"
import type { SessionStore } from "../SessionStore.ts"

/** Creates `Sessions.startView` and `Sessions.endView`. */
export const makeViews = (
  store: SessionStore["Service"],
  { viewMaxAge = "1 hour" }: { readonly viewMaxAge?: Duration.Input | undefined }
) => ({
  startView: Effect.fn("Sessions.startView")(function*({ grant, id }: Session.Session, account: string) {
    if (grant.scope !== "operator") return yield* Effect.die(new Error("Only sessions of operators view accounts"))
    const saved = yield* store.saveView(id, Option.some({ account, maxAge: Duration.fromInputUnsafe(viewMaxAge) }))
    const view = Option.flatMap(saved, ({ view }) => view)
    return Option.isSome(view)
      ? view.value
      : yield* new SessionsError({ reason: new SessionNotFound({ session: id }) })
  }),

  endView: Effect.fn("Sessions.endView")(({ id }: Session.Session) => Effect.asVoid(store.saveView(id, Option.none())))
})
