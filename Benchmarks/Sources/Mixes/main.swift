import Harness

runGroup("Mixes") { plan, report in
  for durability in [Durability.relaxed, .full] {
    try withFolder(plan, "mixes") { folder in
      try Mixes(plan: plan, durability: durability, folder: folder).run(report)
    }
  }
}
