/** Statements of `docs/reference/operator-api.md`, by section. */
export const operators = {
  "webhook-endpoints": {
    "webhook-endpoints.operations": "`POST /admin/v1/accounts/{id}/webhook-endpoints`"
  }
} as const
