/** Suspending, resuming, deleting and restoring an account. */
import { call } from "../../../api/call.ts"
import type { OperatorAccount } from "../../../api/types.ts"
import { ConfirmButton } from "../Confirm.tsx"
import { usePermits } from "../permits.ts"
import { SignInLinkButton } from "../SignInLink.tsx"

/** The buttons that the status of the account and the role permit. */
export const AccountActions = ({ account: { email, id, status } }: { readonly account: OperatorAccount }) => {
  const [canSuspend, canDelete] = [usePermits("support"), usePermits("operator")]
  const params = { id }
  return (
    <>
      {canSuspend && status === "active" && <ViewAs id={id} email={email} />}
      {canDelete && status === "active" && (
        <SignInLinkButton
          size="md"
          who={email}
          create={() => call("POST /admin/v1/accounts/:id/sign-in-links", { params, payload: {} })}
        />
      )}
      {canSuspend && status === "active" && (
        <ConfirmButton
          size="md"
          label="Suspend account"
          title={`Suspend ${email}?`}
          typed={email}
          act={() => call("POST /admin/v1/accounts/:id/suspend", { params })}
        >
          Its requests are rejected within 5 seconds. Running jobs continue.
        </ConfirmButton>
      )}
      {canSuspend && status === "suspended" && (
        <ConfirmButton
          size="md"
          label="Resume account"
          title={`Resume ${email}?`}
          tone="primary"
          act={() => call("POST /admin/v1/accounts/:id/resume", { params })}
        >
          Its requests are accepted again.
        </ConfirmButton>
      )}
      {canDelete && (status === "active" || status === "suspended") && (
        <ConfirmButton
          size="md"
          label="Delete account"
          title={`Delete ${email}?`}
          typed={email}
          act={() => call("DELETE /admin/v1/accounts/:id", { params })}
        >
          Revokes its keys and removes its plans and webhook endpoints. Its data is erased after 30 days, unless you
          restore the account before.
        </ConfirmButton>
      )}
      {canDelete && status === "deleted" && (
        <ConfirmButton
          size="md"
          label="Restore account"
          title={`Restore ${email}?`}
          tone="primary"
          act={() => call("POST /admin/v1/accounts/:id/restore", { params })}
        >
          Its keys, plans and webhook endpoints do not come back.
        </ConfirmButton>
      )}
    </>
  )
}

// -----------------------------------------------------------------------------
// internal
// -----------------------------------------------------------------------------

const ViewAs = ({ email, id }: Pick<OperatorAccount, "email" | "id">) => (
  <ConfirmButton
    size="md"
    label="View as"
    title={`View the console of ${email}?`}
    tone="primary"
    act={async () => {
      await call("POST /console/v1/view", { payload: { account: id } })
      location.assign("/console/")
    }}
  >
    You see what its members see, and change nothing. The view ends after an hour, and is recorded in the audit log.
  </ConfirmButton>
)
