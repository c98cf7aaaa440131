/** Members in the API of the console. */
import { ConsoleApi } from "@kinora/http-api/ConsoleApi"
import { Member } from "@kinora/sessions"
import { Effect } from "effect"
import type { HttpServerOptions } from "../../HttpServerOptions.ts"
import { changes } from "../../middleware/changes.ts"
import { currentAccount } from "../../middleware/consoleAuthentication.ts"
import { answers, parseId } from "../../middleware/refusals.ts"
import { shownOnce } from "../../wire/shownOnce.ts"
import * as EndpointGroup from "../endpointGroup.ts"
import * as Members from "../members.ts"

/** The handlers. */
export const layer = (options: HttpServerOptions) =>
  EndpointGroup.make(ConsoleApi, "members", function*(handlers) {
    const members = yield* Members.make(options)

    return handlers.handleAll({
      listMembers: answers([], function*() {
        return yield* members.list(yield* currentAccount)
      }),

      inviteMember: changes(["MemberExists", "TooManyCodes", "TooManyMembers"], function*({ payload }) {
        return shownOnce(yield* members.invite(yield* currentAccount, payload))
      }),

      updateMember: changes(["MemberNotFound"], function*({ params, payload }) {
        return yield* members.setRole(...(yield* idsOf(params)), payload.role)
      }),

      createMemberSignInLink: changes(["MemberNotFound", "TooManyCodes"], function*({ params }) {
        return shownOnce(yield* members.createLink(...(yield* idsOf(params))))
      }),

      removeMember: changes(["MemberNotFound"], function*({ params, query }) {
        yield* members.remove(...(yield* idsOf(params)), query.revoke_keys === "true")
      })
    })
  })

// -----------------------------------------------------------------------------
// internal
// -----------------------------------------------------------------------------

const idsOf = ({ id }: { readonly id: string }) => Effect.all([currentAccount, parseId(Member.MemberId.parse, id)])
