"""`python -m metamem`: the program, where its folder is not on the PATH."""

from metamem.cli.main import main

if __name__ == "__main__":
    main()
