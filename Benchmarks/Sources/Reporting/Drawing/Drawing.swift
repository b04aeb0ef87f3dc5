import Foundation

/// A picture in SVG that needs nothing else: its own style, no script, no font, no network.
///
/// Colours are those of the reader's mode, light or dark, and are told by class: not every renderer
/// knows CSS variables.
struct Drawing {
  let width: Double
  let height: Double
  private var elements: [String] = []

  init(width: Double, height: Double) {
    self.width = width
    self.height = height
  }

  enum Anchor: String { case start, middle, end }

  mutating func text(
    _ text: String,
    _ x: Double,
    _ y: Double,
    anchor: Anchor = .start,
    class name: String = "ink"
  ) {
    elements.append(
      """
      <text x="\(number(x))" y="\(number(y))" text-anchor="\(anchor.rawValue)" \
      class="\(name)">\(Self.escape(text))</text>
      """
    )
  }

  mutating func line(_ x1: Double, _ y1: Double, _ x2: Double, _ y2: Double, class name: String) {
    elements.append(
      """
      <line x1="\(number(x1))" y1="\(number(y1))" x2="\(number(x2))" y2="\(number(y2))" \
      class="\(name)"/>
      """
    )
  }

  mutating func bar(_ x: Double, _ y: Double, _ width: Double, _ height: Double, class name: String)
  {
    elements.append(
      """
      <rect x="\(number(x))" y="\(number(y))" width="\(number(max(0, width)))" \
      height="\(number(height))" class="\(name)"/>
      """
    )
  }

  mutating func dot(_ x: Double, _ y: Double, class name: String) {
    elements.append(#"<circle cx="\#(number(x))" cy="\#(number(y))" r="3" class="\#(name)"/>"#)
  }

  mutating func path(_ points: [(x: Double, y: Double)], class name: String) {
    let steps = points.map { "\(number($0.x)) \(number($0.y))" }.joined(separator: "L")
    elements.append(#"<path d="M\#(steps)" class="\#(name)"/>"#)
  }

  /// The whole file.
  ///
  /// - Parameters:
  ///   - title: Its subject; read aloud to readers who cannot see it.
  ///   - description: The figures' story in words.
  /// - Returns: The file's text.
  func svg(title: String, description: String) -> String {
    let opening = """
      <svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 \(number(width)) \(number(height))" \
      width="\(number(width))" height="\(number(height))" role="img">
      <title>\(Self.escape(title))</title>
      <desc>\(Self.escape(description))</desc>
      <style>\(Style.sheet)</style>
      <rect width="100%" height="100%" class="paper"/>
      """
    return ([opening] + elements + ["</svg>", ""]).joined(separator: "\n")
  }

  static func escape(_ text: String) -> String {
    text.replacingOccurrences(of: "&", with: "&amp;")
      .replacingOccurrences(of: "<", with: "&lt;")
      .replacingOccurrences(of: ">", with: "&gt;")
  }

  /// A tenth of a pixel is as much as a reader sees.
  private func number(_ value: Double) -> String {
    let tenths = (value * 10).rounded() / 10
    return tenths == tenths.rounded() ? "\(Int(tenths))" : "\(tenths)"
  }
}
