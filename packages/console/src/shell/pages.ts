/** The pages in the sidebar. */

/** The pages of account sessions. */
export const accountSections = [
  {
    name: "Create",
    links: [
      { to: "/", label: "Overview", icon: "home" },
      { to: "/playground", label: "Playground", icon: "sparkles" },
      { to: "/jobs", label: "Jobs", icon: "images" }
    ]
  },
  {
    name: "Account",
    links: [
      { to: "/usage", label: "Usage", icon: "chart" },
      { to: "/keys", label: "API keys", icon: "keyRound" },
      { to: "/webhooks", label: "Webhooks", icon: "webhook" },
      { to: "/plans", label: "Plans and wallet", icon: "wallet" },
      { to: "/limits", label: "Limits", icon: "gauge" },
      { to: "/settings", label: "Settings", icon: "settings" }
    ]
  }
] as const

/** The pages of operator sessions. */
export const operatorSections = [
  {
    name: "Service",
    links: [
      { to: "/operator", label: "Health", icon: "activity" },
      { to: "/operator/queue", label: "Queue", icon: "layers" },
      { to: "/operator/workers", label: "Workers", icon: "server" },
      { to: "/operator/models", label: "Models", icon: "box" }
    ]
  },
  {
    name: "Customers",
    links: [
      { to: "/operator/accounts", label: "Accounts", icon: "users" },
      { to: "/operator/jobs", label: "Jobs", icon: "images" },
      { to: "/operator/ledger", label: "Ledger", icon: "scale" }
    ]
  },
  {
    name: "Control",
    links: [
      { to: "/operator/operators", label: "Operators", icon: "shield" },
      { to: "/operator/configuration", label: "Configuration", icon: "settings" },
      { to: "/operator/audit", label: "Audit log", icon: "scroll" }
    ]
  }
] as const
