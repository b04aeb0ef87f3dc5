extension Schedule {
  /// Cuts a schedule down: leaves out ever smaller runs of steps, as long as what is left still fails.
  ///
  /// - Parameters:
  ///   - limit: The greatest number of schedules to try.
  ///   - fails: Whether a schedule fails as the whole one does.
  /// - Returns: A schedule that fails, of which no step can be left out.
  func shrunk(limit: Int = 2_000, whileFailing fails: (Schedule) -> Bool) -> Schedule {
    var best = self
    var tries = 0
    func attempt(_ candidate: Schedule) -> Bool {
      guard tries < limit else { return false }
      tries += 1
      guard fails(candidate) else { return false }
      best = candidate
      return true
    }
    best.simplifySetting(attempt)
    var size = max(best.operations.count / 2, 1)
    while true {
      var start = 0
      var progressed = false
      while start < best.operations.count {
        var candidate = best
        candidate.operations.removeSubrange(start..<min(start + size, candidate.operations.count))
        if attempt(candidate) { progressed = true } else { start += size }
      }
      if size > 1 { size /= 2 } else if !progressed { break }
      if tries >= limit { break }
    }
    best.simplifySteps(attempt)
    return best
  }

  /// Tries the plainest setting that still fails.
  private func simplifySetting(_ attempt: (Schedule) -> Bool) {
    var current = self
    func set(_ change: (inout Setting) -> Void) {
      var candidate = current
      change(&candidate.setting)
      if attempt(candidate) { current = candidate }
    }
    if setting.onDisk { set { $0.onDisk = false } }
    if setting.containerCount > 1 {
      set {
        $0.containerCount = 1
        for index in $0.contexts.indices { $0.contexts[index].container = 0 }
      }
    }
    for index in setting.contexts.indices {
      let context = setting.contexts[index]
      if context.observes { set { $0.contexts[index].observes = false } }
      if context.merges { set { $0.contexts[index].merges = false } }
      if context.undoes { set { $0.contexts[index].undoes = false } }
      if context.autosaves { set { $0.contexts[index].autosaves = false } }
    }
    set { $0.freshLookInterval = 1 }
    set { $0.freshLookInterval = 0 }
    set { $0.lookInterval = 0 }
  }

  /// Tries plainer steps in the place of those there are.
  private func simplifySteps(_ attempt: (Schedule) -> Bool) {
    var current = self
    for index in operations.indices {
      var plain = current.operations[index]
      plain.access = .held
      if case .insert(let kind, let key, let insertion) = plain.action, insertion != .plain {
        var candidate = current
        candidate.operations[index].action = .insert(kind, key: key, .plain)
        if attempt(candidate) { current = candidate }
      }
      guard current.operations[index].access != .held else { continue }
      var candidate = current
      candidate.operations[index].access = .held
      if attempt(candidate) { current = candidate }
    }
  }
}
