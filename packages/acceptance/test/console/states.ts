/** Texts of each page in its states. A page without an entry fails the tests. */

/** States of a page besides those that all pages share. */
export interface States {
  /** Text of the page of a new account, or if the service has no such object. `null`: it always shows something. */
  readonly empty: string | null
  /** Path of the list that is empty then, on pages that a new account does not have. */
  readonly list?: RegExp
  /** Text for a session with an API key, which lacks rights of the account. `null`: the page itself. */
  readonly key?: string
  /** Buttons and links that change something, and that viewers do not see. */
  readonly changes?: ReadonlyArray<string>
}

/** By the name of the page. */
export const states: Readonly<Record<string, States>> = {
  "overview": { empty: "No jobs yet. Create one in the Playground or with the API." },
  "playground": { empty: "Your image will appear here", changes: ["Write a prompt"] },
  "jobs": { empty: "No jobs yet" },
  "job": { empty: null },
  "usage": { empty: "No jobs ended in this range." },
  "keys": { empty: "No API keys", key: "Sign in with a link to manage API keys", changes: ["Create key"] },
  "webhooks": {
    empty: "No webhook endpoints",
    changes: ["Add endpoint"]
  },
  "endpoint": {
    empty: "No events sent yet",
    list: /\/sends$/,
    changes: ["Send test event"]
  },
  "plans": { empty: "No bookings yet", key: "Sign in with a link to read the statement" },
  "limits": { empty: null },
  "settings": { empty: null },
  "operator-health": { empty: null },
  "operator-queue": { empty: "No jobs wait or run.", list: /\/admin\/v1\/queue\/lanes$/ },
  "operator-workers": { empty: "No workers", list: /\/admin\/v1\/workers$/ },
  "operator-models": { empty: "No models", list: /\/admin\/v1\/models$/ },
  "operator-accounts": { empty: "No accounts match.", list: /\/admin\/v1\/accounts$/, changes: ["Create account"] },
  "operator-account": { empty: null, changes: ["Grant credits", "Create sign-in link"] },
  "operator-jobs": { empty: "No jobs match.", list: /\/admin\/v1\/generations$/ },
  "operator-job": { empty: null },
  "operator-ledger": { empty: null },
  "operator-operators": { empty: "No operators", list: /\/admin\/v1\/operators$/, changes: ["Create operator"] },
  "operator-configuration": { empty: "All settings have their defaults", list: /\/admin\/v1\/configuration$/ },
  "operator-audit": { empty: "No entries match.", list: /\/admin\/v1\/audit$/ }
}

/** Pages that request nothing of their own. */
export const still: ReadonlyArray<string> = ["sign-in", "not-found"]
