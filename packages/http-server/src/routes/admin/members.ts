/** Members in the operator API. */
import { Account, Accounts } from "@kinora/accounts"
import { AdminApi } from "@kinora/http-api/AdminApi"
import { refuse } from "@kinora/http-api/ApiError"
import { Member } from "@kinora/sessions"
import { Effect } from "effect"
import type { HttpServerOptions } from "../../HttpServerOptions.ts"
import { changes } from "../../middleware/changes.ts"
import { answers, parseId } from "../../middleware/refusals.ts"
import { shownOnce } from "../../wire/shownOnce.ts"
import * as EndpointGroup from "../endpointGroup.ts"
import * as Members from "../members.ts"

/** The handlers. */
export const layer = (options: HttpServerOptions) =>
  EndpointGroup.make(AdminApi, "members", function*(handlers) {
    const accounts = yield* Accounts.Accounts
    const members = yield* Members.make(options)
    const checkConsole = options.console ? Effect.void : refuse("console_disabled")

    /** Parses the id of an account that exists, and that has data. */
    const accountOf = Effect.fnUntraced(function*(text: string) {
      const { id, status } = yield* accounts.get(yield* parseId(Account.AccountId.parse, text))
      return status === "deleted" || status === "erased"
        ? yield* refuse("account_deleted", { details: { erased: status === "erased" } })
        : id
    })

    return handlers.handleAll({
      listMembers: answers(["AccountNotFound"], function*({ params }) {
        const { id } = yield* accounts.get(yield* parseId(Account.AccountId.parse, params.id))
        return yield* members.list(id)
      }),

      inviteMember: changes(
        ["AccountNotFound", "MemberExists", "TooManyCodes", "TooManyMembers"],
        function*({ params, payload }) {
          yield* checkConsole
          return shownOnce(yield* members.invite(yield* accountOf(params.id), payload))
        }
      ),

      updateMember: changes(["MemberNotFound"], function*({ params, payload }) {
        return yield* members.setRole(...(yield* idsOf(params)), payload.role)
      }),

      createMemberSignInLink: changes(
        ["AccountNotFound", "MemberNotFound", "TooManyCodes"],
        function*({ params }) {
          yield* checkConsole
          const id = yield* parseId(Member.MemberId.parse, params.member_id)
          return shownOnce(yield* members.createLink(yield* accountOf(params.id), id))
        }
      ),

      removeMember: changes(["AccountNotFound", "MemberNotFound"], function*({ params, query }) {
        yield* members.remove(...(yield* idsOf(params)), query.revoke_keys === "true")
      })
    })
  })

// -----------------------------------------------------------------------------
// internal
// -----------------------------------------------------------------------------

const idsOf = (params: { readonly id: string; readonly member_id: string }) =>
  Effect.all([parseId(Account.AccountId.parse, params.id), parseId(Member.MemberId.parse, params.member_id)])
