/** The audit log in the operator API. */
import { AdminApi } from "@kinora/http-api/AdminApi"
import { AuditEntry, AuditLog } from "@kinora/operators"
import { answers, invalidParameter } from "../../middleware/refusals.ts"
import * as EndpointGroup from "../endpointGroup.ts"

/** The handlers. */
export const layer = EndpointGroup.make(AdminApi, "audit", function*(handlers) {
  const audit = yield* AuditLog.AuditLog

  return handlers.handleAll({
    listAudit: answers([], function*({ query: { cursor, limit = pageSizeDefault, ...conditions } }) {
      const after = cursor === undefined ? undefined : AuditEntry.AuditId.parse(cursor)
      if (cursor !== undefined && after === undefined) return yield* invalidCursor
      // One more than the page, which shows whether it is the last one.
      const found = yield* audit.list({ ...conditions, after, limit: limit + 1 })
      const page = found.slice(0, limit)
      return { data: page.map(toWire), next_cursor: found.length > limit ? page.at(-1)!.id : null }
    })
  })
})

// -----------------------------------------------------------------------------
// internal
// -----------------------------------------------------------------------------

const pageSizeDefault = 20

const invalidCursor = invalidParameter("cursor", "must be the next_cursor of an earlier page")

const toWire = ({ requestId, ...entry }: AuditEntry.AuditEntry) => ({ ...entry, request_id: requestId })
