import Harness

runGroup("Steady") { plan, report in try SteadyOverwriting(plan, report).run() }
