class Ahp < Formula
  desc "@DESCRIPTION@"
  version "@VERSION@"
  license any_of: ["MIT", "Apache-2.0"]

  on_macos do
    on_arm do
      url "@URL:aarch64-apple-darwin@"
      sha256 "@SUM:aarch64-apple-darwin@"
    end
    on_intel do
      url "@URL:x86_64-apple-darwin@"
      sha256 "@SUM:x86_64-apple-darwin@"
    end
  end

  on_linux do
    on_arm do
      url "@URL:aarch64-unknown-linux-gnu@"
      sha256 "@SUM:aarch64-unknown-linux-gnu@"
    end
    on_intel do
      url "@URL:x86_64-unknown-linux-gnu@"
      sha256 "@SUM:x86_64-unknown-linux-gnu@"
    end
  end

  def install
    bin.install "ahp", "ahp-fleet"
    bash_completion.install "completions/ahp.bash" => "ahp"
    zsh_completion.install "completions/_ahp"
    fish_completion.install "completions/ahp.fish"
  end

  test do
    assert_match version.to_s, shell_output("#{bin}/ahp --version")
  end
end
