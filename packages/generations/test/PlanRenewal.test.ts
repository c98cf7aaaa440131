import { layerMemory } from "./Assembly.ts"
import { suite as slots } from "./PlanChangesContract.ts"
import { suite as renewal } from "./PlanRenewalContract.ts"

renewal("memory", layerMemory)
slots("memory", layerMemory)
