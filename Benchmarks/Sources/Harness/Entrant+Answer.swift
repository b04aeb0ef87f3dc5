extension Entrant {
  /// Creates an entrant whose work has an answer, so that it cannot be quick by doing less.
  ///
  /// - Parameters:
  ///   - workload: The workload.
  ///   - contender: The contender.
  ///   - settings: The settings of the contender, in words.
  ///   - reference: The entrant of the same rounds to compare with.
  ///   - targets: The targets.
  ///   - rows: The number of rows that the work handles.
  ///   - expected: The right answer; any other ends the run.
  ///   - answer: The work.
  public init(
    _ workload: Workload,
    _ contender: Contender,
    settings: String,
    comparedWith reference: Key? = nil,
    targets: [Target] = [],
    rows: Int,
    expected: Int,
    answer: @escaping () throws -> Int
  ) {
    self.init(
      workload,
      contender,
      settings: settings,
      comparedWith: reference,
      targets: targets
    ) {
      var found = 0
      let sample = try timeRows(rows) { found = try answer() }
      try WrongAnswer.check(found, is: expected, contender)
      return sample
    }
  }
}
