/** The dialogs of the console, and how a person opens them. A source file with a dialog and without an entry fails the tests. */
import type { Locator } from "playwright-core"
import type { PageIds } from "../../src/console/ConsolePages.ts"

/** Ids of an account with data and of its running job, which are part of URLs. */
export interface DialogIds extends PageIds {
  readonly runningJob: string
}

/** A dialog. */
export interface ConsoleDialog {
  /** File below `packages/console/src` that contains the dialog. */
  readonly source: string
  readonly viewer: "account" | "operator"
  /** Path of its page below `/console`. */
  readonly path: (ids: DialogIds) => string
  /** The button or link that has the focus when a key opens the dialog. */
  readonly opener: { readonly role: "button" | "link"; readonly name: string | RegExp }
  /** The key that opens the dialog. */
  readonly key: string
  /** Name of the dialog. */
  readonly name: string | RegExp
  /** Completes the form of the dialog, which is replaced by a dialog that shows a secret, of this name. */
  readonly secret?: { readonly fill: (form: Locator) => Promise<void>; readonly name: string | RegExp }
  /** Whether the dialog shows a secret. Only its button closes it. */
  readonly isSecret: boolean
}

/** All dialogs. */
export const dialogs: ReadonlyArray<ConsoleDialog> = [
  ...list("account", () => "/", [
    { source: "shell/useShortcuts.tsx", role: "link", opener: "API keys", key: "?", name: "Keyboard shortcuts" }
  ]),
  ...list("account", () => "/jobs", [
    { source: "pages/jobs/JobPanel.tsx", role: "link", opener: /^Mountain ridges/, name: /^Mountain ridges/ }
  ]),
  ...list("account", () => "/settings", [
    { source: "pages/members/InviteDialog.tsx", opener: "Invite", name: "Invite a person" },
    { source: "pages/members/MemberManager.tsx", opener: /^Make .* a viewer$/, name: /^Make .* a viewer\?$/ },
    { source: "pages/members/RemoveDialog.tsx", opener: /^Remove /, name: /^Remove .*\?$/ },
    {
      source: "pages/members/MemberManager.tsx",
      opener: /^Create a sign-in link of /,
      name: /^Sign-in link of /,
      isSecret: true
    }
  ]),
  ...list("account", () => "/keys", [
    {
      source: "pages/keys/CreateKeyDialog.tsx",
      opener: "Create key",
      name: "Create an API key",
      secret: { fill: (form) => form.getByLabel("Name").fill("Of a dialog"), name: "Key Of a dialog" }
    },
    { source: "pages/keys/BudgetDialog.tsx", opener: "Budget of conformance", name: "Budget of conformance" },
    { source: "pages/keys/RenameKeyDialog.tsx", opener: "Rename conformance", name: "Rename conformance" },
    { source: "pages/keys/RollKeyDialog.tsx", opener: "Roll conformance", name: "Roll conformance" },
    { source: "pages/keys/KeyManager.tsx", opener: "Revoke conformance", name: "Revoke conformance?" }
  ]),
  ...list("account", () => "/webhooks", [
    {
      source: "pages/webhooks/EndpointDialog.tsx",
      opener: "Add endpoint",
      name: "Add a webhook endpoint",
      secret: {
        fill: (form) => form.getByLabel("URL").fill("https://localhost:9/dialog"),
        name: "The secret of the endpoint"
      }
    },
    { source: "pages/webhooks/Webhooks.tsx", opener: "Add endpoint", name: "Add a webhook endpoint" }
  ]),
  ...list("account", ({ endpoint }) => `/webhooks/${endpoint}?tab=deliveries`, [
    {
      source: "pages/webhooks/ResendFailed.tsx",
      opener: "Resend all failed since…",
      name: "Resend failed deliveries"
    },
    { source: "pages/webhooks/DeliveryDialog.tsx", opener: "Payload", name: "Payload" }
  ]),
  ...list("account", ({ endpoint }) => `/webhooks/${endpoint}?tab=settings`, [
    {
      source: "pages/webhooks/EndpointSettings.tsx",
      opener: "Rotate secret",
      name: "The new secret",
      isSecret: true
    },
    { source: "pages/webhooks/EndpointSettings.tsx", opener: "Delete endpoint", name: "Delete this endpoint?" }
  ]),
  ...list("operator", () => "/operator/models", [
    { source: "pages/operator/models/Models.tsx", opener: "Pause model", name: /^Pause .*\?$/ }
  ]),
  ...list("operator", () => "/operator/workers", [
    { source: "pages/operator/workers/Workers.tsx", opener: "Drain worker", name: /^Drain .*\?$/ }
  ]),
  ...list("operator", () => "/operator/accounts", [
    { source: "pages/operator/accounts/Accounts.tsx", opener: "Create account", name: "Create an account" }
  ]),
  ...list("operator", ({ account }) => `/operator/accounts/${account}`, [
    { source: "pages/operator/accounts/PlanDialog.tsx", opener: "Set plan for Studio", name: "Set the Studio plan" },
    { source: "pages/operator/accounts/AccountPlans.tsx", opener: "End plan", name: /^End the .* plan\?$/ },
    { source: "pages/operator/accounts/GrantDialog.tsx", opener: "Grant credits", name: "Grant credits" },
    { source: "pages/operator/accounts/AccountPlans.tsx", opener: "Revoke lot", name: /^Revoke .* credits\?$/ },
    { source: "pages/operator/accounts/AccountActions.tsx", opener: "Suspend account", name: /^Suspend .*\?$/ },
    { source: "pages/operator/accounts/AccountActions.tsx", opener: "Delete account", name: /^Delete .*\?$/ },
    { source: "pages/operator/accounts/AccountActions.tsx", opener: "View as", name: /^View the console of .*\?$/ },
    {
      source: "pages/operator/accounts/AccountActions.tsx",
      opener: "Create sign-in link",
      name: /^Sign-in link of /,
      isSecret: true
    }
  ]),
  ...list("operator", ({ account }) => `/operator/accounts/${account}?tab=wallet`, [
    { source: "pages/operator/accounts/Wallet.tsx", opener: "Deposit", name: "Add to the balance" },
    { source: "pages/operator/accounts/Wallet.tsx", opener: "Take", name: "Take from the balance" }
  ]),
  ...list("operator", ({ runningJob }) => `/operator/jobs/${runningJob}`, [
    { source: "pages/operator/jobs/OperatorJob.tsx", opener: "Requeue job", name: "Requeue this job?" },
    { source: "pages/operator/jobs/OperatorJob.tsx", opener: "Fail job", name: "Fail this job?" }
  ]),
  ...list("operator", () => "/operator/operators", [
    {
      source: "pages/operator/operators/Operators.tsx",
      opener: "Create operator",
      name: "Create an operator",
      secret: { fill: (form) => form.getByLabel("Name").fill("Of a dialog"), name: "Token of Of a dialog" }
    },
    { source: "pages/operator/operators/Operators.tsx", opener: "Rotate token", name: /^Rotate the token of .*\?$/ },
    { source: "pages/operator/operators/Operators.tsx", opener: "Revoke", name: /^Revoke .*\?$/ },
    {
      source: "pages/operator/operators/SessionsDialog.tsx",
      opener: "Sessions of the owner",
      name: "Sessions of the owner's token"
    }
  ]),
  ...list("operator", () => "/operator/audit", [
    { source: "pages/operator/audit/Audit.tsx", opener: /^Show /, name: /\./ }
  ])
]

// -----------------------------------------------------------------------------
// internal
// -----------------------------------------------------------------------------

type Entry =
  & Pick<ConsoleDialog, "name" | "secret" | "source">
  & Partial<Pick<ConsoleDialog, "isSecret" | "key">>
  & { readonly role?: "link"; readonly opener: string | RegExp }

/** The dialogs of a page. Most are opened by a button. */
function list(
  viewer: ConsoleDialog["viewer"],
  path: ConsoleDialog["path"],
  entries: ReadonlyArray<Entry>
): ReadonlyArray<ConsoleDialog> {
  return entries.map(({ isSecret = false, key = "Enter", opener: name, role, ...entry }) => {
    const opener: ConsoleDialog["opener"] = { role: role ?? "button", name }
    return { ...entry, viewer, path, isSecret, key, opener }
  })
}
