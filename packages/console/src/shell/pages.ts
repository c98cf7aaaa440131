/** The pages in the sidebar. */
import {
  Activity,
  Box,
  Chart,
  Gauge,
  Home,
  Images,
  KeyRound,
  Layers,
  Scale,
  Scroll,
  Server,
  Settings,
  Shield,
  Sparkles,
  Users,
  Wallet,
  Webhook
} from "../components/Icon.tsx"

/** The pages of account sessions. */
export const accountSections = [
  {
    name: "Create",
    links: [
      { to: "/", label: "Overview", icon: Home },
      { to: "/playground", label: "Playground", icon: Sparkles },
      { to: "/jobs", label: "Jobs", icon: Images }
    ]
  },
  {
    name: "Account",
    links: [
      { to: "/usage", label: "Usage", icon: Chart },
      { to: "/keys", label: "API keys", icon: KeyRound },
      { to: "/webhooks", label: "Webhooks", icon: Webhook },
      { to: "/plans", label: "Plans and wallet", icon: Wallet },
      { to: "/limits", label: "Limits", icon: Gauge },
      { to: "/settings", label: "Settings", icon: Settings }
    ]
  }
] as const

/** The pages of operator sessions. */
export const operatorSections = [
  {
    name: "Service",
    links: [
      { to: "/operator", label: "Health", icon: Activity },
      { to: "/operator/queue", label: "Queue", icon: Layers },
      { to: "/operator/workers", label: "Workers", icon: Server },
      { to: "/operator/models", label: "Models", icon: Box }
    ]
  },
  {
    name: "Customers",
    links: [
      { to: "/operator/accounts", label: "Accounts", icon: Users },
      { to: "/operator/jobs", label: "Jobs", icon: Images },
      { to: "/operator/ledger", label: "Ledger", icon: Scale }
    ]
  },
  {
    name: "Control",
    links: [
      { to: "/operator/operators", label: "Operators", icon: Shield },
      { to: "/operator/configuration", label: "Configuration", icon: Settings },
      { to: "/operator/audit", label: "Audit log", icon: Scroll }
    ]
  }
] as const
