def describe(x):
    return repr(x)


def differences(a, b):
    return [] if a == b else ["x"]
